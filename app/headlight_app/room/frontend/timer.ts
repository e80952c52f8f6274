// A countdown on the projector.

const SECOND = 1000; // milliseconds

export const TIME_IS_UP = "Time is up";

export class Timer {
  #tell;
  #ends = 0;
  #ticks: ReturnType<typeof setInterval> | undefined;

  /** @param tell called each second with the time that is left; "" without a countdown, TIME_IS_UP after it */
  constructor(tell: (left: string) => void) {
    this.#tell = tell;
  }

  get runs() {
    return this.#ends > 0;
  }

  start(minutes: number) {
    this.stop();
    this.#ends = Date.now() + minutes * 60 * SECOND;
    this.#ticks = setInterval(() => this.#tick(), SECOND);
    this.#tick();
  }

  stop() {
    clearInterval(this.#ticks);
    this.#ends = 0;
    this.#tell("");
  }

  #tick() {
    const left = Math.ceil((this.#ends - Date.now()) / SECOND);
    if (left <= 0) clearInterval(this.#ticks);
    this.#tell(left > 0 ? `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}` : TIME_IS_UP);
  }
}

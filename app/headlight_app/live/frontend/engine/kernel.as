// Matrix products in WebAssembly SIMD: AssemblyScript, built by `npm run kernel` into kernel_code.ts.
//
// A matrix [k, n] is stored in panels of eight columns, one after the other, each row by row: eight sums of a row of the
// product are then two vectors.

const PANEL: i32 = 8;
const ROW: usize = 32; // bytes of a panel's row

/** Packs a matrix [k, n] whose cell (i, j) is at i * rowStep + j * columnStep; missing columns become zero. */
export function pack(from: usize, to: usize, k: i32, n: i32, rowStep: i32, columnStep: i32): void {
  for (let first = 0; first < n; first += PANEL) {
    const columns = min(PANEL, n - first);
    for (let i = 0; i < k; i++) {
      let at = from + (<usize>(i * rowStep + first * columnStep) << 2);
      for (let j = 0; j < PANEL; j++) {
        store<f32>(to, j < columns ? load<f32>(at) : 0);
        to += 4;
        if (j < columns) at += <usize>columnStep << 2;
      }
    }
  }
}

/** c [m, n] = a [m, k] x the panels + bias (0: none); n is a multiple of eight. */
export function multiply(a: usize, panels: usize, bias: usize, c: usize, m: i32, k: i32, n: i32): void {
  const aStep = <usize>k << 2,
    cStep = <usize>n << 2;
  for (let first = 0; first < n; first += PANEL) {
    const panel = panels + <usize>(first * k) * 4,
      added = bias ? bias + <usize>first * 4 : 0;
    let row = 0,
      from = a,
      to = c + <usize>first * 4;
    for (; row + 4 <= m; row += 4) {
      four(from, aStep, panel, added, to, cStep, k);
      from += 4 * aStep;
      to += 4 * cStep;
    }
    for (; row < m; row++) {
      one(from, panel, added, to, k);
      from += aStep;
      to += cStep;
    }
  }
}

// @ts-ignore: decorator
@inline
function start(bias: usize, offset: usize): v128 {
  return bias ? v128.load(bias + offset) : f32x4.splat(0);
}

/** Four rows of a panel: eight vectors of sums, so that each number that is read serves several. */
function four(a: usize, aStep: usize, panel: usize, bias: usize, c: usize, cStep: usize, k: i32): void {
  const a1 = a + aStep,
    a2 = a1 + aStep,
    a3 = a2 + aStep;
  let l0 = start(bias, 0),
    r0 = start(bias, 16),
    l1 = l0,
    r1 = r0,
    l2 = l0,
    r2 = r0,
    l3 = l0,
    r3 = r0;
  const end = <usize>k << 2;
  for (let at: usize = 0; at < end; at += 4) {
    const left = v128.load(panel),
      right = v128.load(panel, 16);
    let x = v128.load_splat<f32>(a + at);
    l0 = f32x4.add(l0, f32x4.mul(x, left));
    r0 = f32x4.add(r0, f32x4.mul(x, right));
    x = v128.load_splat<f32>(a1 + at);
    l1 = f32x4.add(l1, f32x4.mul(x, left));
    r1 = f32x4.add(r1, f32x4.mul(x, right));
    x = v128.load_splat<f32>(a2 + at);
    l2 = f32x4.add(l2, f32x4.mul(x, left));
    r2 = f32x4.add(r2, f32x4.mul(x, right));
    x = v128.load_splat<f32>(a3 + at);
    l3 = f32x4.add(l3, f32x4.mul(x, left));
    r3 = f32x4.add(r3, f32x4.mul(x, right));
    panel += ROW;
  }
  v128.store(c, l0);
  v128.store(c, r0, 16);
  c += cStep;
  v128.store(c, l1);
  v128.store(c, r1, 16);
  c += cStep;
  v128.store(c, l2);
  v128.store(c, r2, 16);
  c += cStep;
  v128.store(c, l3);
  v128.store(c, r3, 16);
}

/** One row of a panel: the sums of every fourth number, so that no addition waits for the one before it. */
function one(a: usize, panel: usize, bias: usize, c: usize, k: i32): void {
  let l0 = start(bias, 0),
    r0 = start(bias, 16),
    l1 = f32x4.splat(0),
    r1 = f32x4.splat(0),
    l2 = l1,
    r2 = l1,
    l3 = l1,
    r3 = l1;
  const whole = a + (<usize>(k & ~3) << 2),
    end = a + (<usize>k << 2);
  while (a < whole) {
    let x = v128.load_splat<f32>(a);
    l0 = f32x4.add(l0, f32x4.mul(x, v128.load(panel)));
    r0 = f32x4.add(r0, f32x4.mul(x, v128.load(panel, 16)));
    x = v128.load_splat<f32>(a, 4);
    l1 = f32x4.add(l1, f32x4.mul(x, v128.load(panel, 32)));
    r1 = f32x4.add(r1, f32x4.mul(x, v128.load(panel, 48)));
    x = v128.load_splat<f32>(a, 8);
    l2 = f32x4.add(l2, f32x4.mul(x, v128.load(panel, 64)));
    r2 = f32x4.add(r2, f32x4.mul(x, v128.load(panel, 80)));
    x = v128.load_splat<f32>(a, 12);
    l3 = f32x4.add(l3, f32x4.mul(x, v128.load(panel, 96)));
    r3 = f32x4.add(r3, f32x4.mul(x, v128.load(panel, 112)));
    a += 16;
    panel += 4 * ROW;
  }
  for (; a < end; a += 4) {
    const x = v128.load_splat<f32>(a);
    l0 = f32x4.add(l0, f32x4.mul(x, v128.load(panel)));
    r0 = f32x4.add(r0, f32x4.mul(x, v128.load(panel, 16)));
    panel += ROW;
  }
  v128.store(c, f32x4.add(f32x4.add(l0, l1), f32x4.add(l2, l3)));
  v128.store(c, f32x4.add(f32x4.add(r0, r1), f32x4.add(r2, r3)), 16);
}

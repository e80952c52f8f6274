// What Streamlit says to Explore, and what its page works on; what the server says is in the contracts.

import type { Reporter } from "../../ui/frontend/bridge.js";
import type { Question, State } from "../../ui/frontend/contract.js";
import type { SharedPage, ShownDrawing } from "../../ui/frontend/export/types.js";
import type { Term } from "../../ui/frontend/terms.js";
import type {
  Catalogue,
  Details,
  Found,
  Page,
  Refusable,
  Routes,
  Server,
  View,
  Words,
} from "../../ui/frontend/types.js";
import type { Packed } from "../../ui/frontend/wire.js";
import type { ExplorePageAnswer, StepAnswer, StepValueAnswer, TraceAnswer } from "./contract.js";
import type { ExploreState } from "./state.js";
import type { exploreElements } from "./view.js";

export type * from "../../ui/frontend/types.js";
export type * from "./contract.js";

/** What the sidebar alone chooses. */
export type Settings = Pick<State, "model" | "device" | "measure">;

/** All else that can be chosen, as Streamlit and links say it: a text that the model writes is null. */
export type ToldChoice = Omit<State, keyof Settings | "source"> & Pick<Question, "source">;

/** The same with the text that is read. */
export type Choice = Omit<ToldChoice, "text"> & Pick<Question, "text">;

/** A row of TABS in Python; `module` is a path from the project's folder. */
export interface TabRow {
  name: string;
  title: string;
  module: string;
}

/** A row of ANALYSES in Python: whether there is an answer, and an attention, to choose, or the likeliest answer is meant. */
export interface AnalysisRow extends TabRow {
  has_target: boolean;
  of_likeliest: boolean;
  has_attention: boolean;
  of_experts: boolean;
}

export interface ExploreCatalogue
  extends Catalogue,
    SharedPage,
    Omit<ExplorePageAnswer, "catalogue" | "default_attention"> {
  tabs: TabRow[];
  analyses: AnalysisRow[];
  /** Terms that are explained where they stand. */
  terms: Record<string, Term>;
  /** The names of what makes up a question. */
  question_fields: (keyof Question)[];
  /** What a link says of the sidebar: nothing of a model that nobody chose. */
  takes_focus: boolean; // whether the model was opened on another page, by a button that is gone
  link_settings: Settings;
  /** What a link leaves out, and how many characters of text it may hold. */
  link_defaults: Record<string, unknown>;
  longest_link: number;
}

/** What Streamlit says. */
export interface ExploreData extends ExploreCatalogue {
  api: string;
  state: ToldChoice;
  settings: Settings;
  serial: number;
  /** Milliseconds without a change before Streamlit hears of one. */
  pause: number;
}

export interface ExploreAnswer extends TraceAnswer {
  bytes: Uint8Array<ArrayBuffer>;
}

/** A step with what is read of its values. */
export type StepWith<Value extends StepValueAnswer> = Omit<StepAnswer, "values"> & { values: Value[] };

export interface ExploreServer extends Server {
  readonly api: string;
  get<Name extends keyof Routes>(
    route: Name,
    details: Details<Routes[Name]["request"]>,
    wait?: number,
  ): Found<Routes[Name]["answer"]> | null;
  /** Asks past the memory of what was asked before. */
  post<Name extends keyof Routes>(
    route: Name,
    request: Routes[Name]["request"],
    signal?: AbortSignal,
  ): Promise<Packed<Refusable<Routes[Name]["answer"]>>>;
}

export type ExploreElements = ReturnType<typeof exploreElements>;

export interface ExploreView extends View {
  readonly elements: ExploreElements;
  /** One for each tab, by its name. */
  readonly panels: Record<string, HTMLElement>;
  /** What stands above the tabs, to be exported; null where nothing does. */
  exportAnswer(): Promise<ShownDrawing | null> | null;
  drawEdits(): void;
  showProblem(sentence: string): void;
}

export interface ExplorePage extends Page {
  readonly state: ExploreState;
  readonly view: ExploreView;
  readonly server: ExploreServer;
  readonly reporter: Reporter;
  change(patch: Partial<Choice>): void;
}

/** What the module of a tab, or of an analysis, exports by default: it is drawn while it is open. */
export interface Tab {
  draw(page: ExplorePage, fresh: boolean): void;
  markPointer?(page: ExplorePage): void;
  /** What it shows, to be exported. */
  exported?(page: ExplorePage): Promise<ShownDrawing | null>;
}

/** A control that makes edits, and shows which are made. */
export interface Control {
  element: HTMLElement;
  update(): void;
}

/** What stands in a row among others, with its own update. */
export interface ControlElements {
  elements: HTMLElement[];
  update(): void;
}

/** What an edit is meant for: the path of an attention, and a head of it or nothing for all. */
export interface EditTarget {
  path: string;
  head: string;
}

export interface Menu {
  title: Words;
  controls: Control[];
}

/** A number in a table; null where it is not known yet. */
export interface TableCell {
  value: number | null;
  title: string;
  chosen: boolean;
  layer: number;
  head: number;
  kind?: string;
  testid?: string;
}

export interface TableRow {
  label: string;
  cells: (TableCell | undefined)[];
}

export interface TableActions {
  /** The largest size of a number, which has the strongest colour. */
  most: number;
  read(cell: TableCell | null): void;
  pick(cell: TableCell): void;
}

export interface RankedEntry {
  title: string;
  value: number;
  pick?: () => void;
  total?: boolean;
  chosen?: boolean;
}

/** A share of what a token's residual stream is made of. */
export interface FlowEdge {
  layer: number;
  kind: string;
  target: number;
  source: number;
  share: number;
  heads: { head: number; share: number }[];
  from: Point;
  to: Point;
}

export interface Point {
  x: number;
  y: number;
}

import type { PageRow } from "./scene_list.ts";

/** The URL of a view for the class, and that of the server; each invitation has its own `number`. */
export interface Invitation {
  number: number;
  address: string;
  site: string;
  picture: string;
}

/** The data from Streamlit. */
export interface RoomData {
  api: string;
  pages: PageRow[];
  /** The name of the cookie with the code of this browser's room. */
  cookie: string;
  presenter: boolean;
  /** The titles of models that only this browser can open, by their names in URLs. */
  own_models: Record<string, string>;
  invitation: Invitation | null;
}

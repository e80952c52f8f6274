import type { PageRow } from "../../frame/frontend/scenes/scene_list.js";

/** The address of a view for the class, and where the server itself is; `number` tells one invitation from the next. */
export interface Invitation {
  number: number;
  address: string;
  site: string;
  picture: string;
}

/** What Streamlit says. */
export interface RoomData {
  api: string;
  pages: PageRow[];
  /** The name of the cookie that holds the code of the room that this browser is in. */
  cookie: string;
  presenter: boolean;
  /** The titles of models that this browser alone can open, by the names that addresses have for them. */
  own_models: Record<string, string>;
  invitation: Invitation | null;
}

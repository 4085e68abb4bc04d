/** Starts the visual editor in the page's element for it. */
import { render } from "preact";

const root = document.getElementById("visual-editor");
if (root) render(<p />, root);

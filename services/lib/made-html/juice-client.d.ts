/** Juice without fetching of sheets and reading of files. */
declare module "juice/client.js" {
  import juice = require("juice");
  export default juice;
}

/** Juice without what fetches sheets and reads files. */
declare module "juice/client.js" {
  import juice = require("juice");
  export default juice;
}

// Plain JavaScript that old versions of Node can run, to say in one line why they cannot run the service.
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(
    `Flockmail needs Node 22.18 or newer, this is ${process.versions.node}. npm install brings one on Linux; else see https://nodejs.org.\n`,
  );
  process.exit(1);
}

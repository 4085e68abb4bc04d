jest.mock("sharp", () => {
  throw new Error("Could not load the sharp module using the test runtime");
});

import { copying } from "../../../services/campaigns/media/copy-image.ts";

test("a server without sharp's binary answers a copy with 503 and says why in its log", async () => {
  await expect(copying(Buffer.from("GIF89a"), "image/gif", {})).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: "This server cannot resize images.",
    data: { reason: expect.stringContaining("Could not load the sharp module") },
  });
});

/** Marks the numbers of lines with errors; the marks move with their lines. */
import { RangeSet, StateEffect, StateField } from "@codemirror/state";
import { GutterMarker, lineNumberMarkers } from "@codemirror/view";

const WRONG = new (class extends GutterMarker {
  override elementClass = "cm-wrong";
})();

export const setWrong = StateEffect.define<readonly number[]>();

export const wrongLines = StateField.define<RangeSet<GutterMarker>>({
  create: () => RangeSet.empty,
  update(marks, { effects, changes, newDoc }) {
    const lines = effects.findLast((effect) => effect.is(setWrong))?.value as readonly number[] | undefined;
    if (!lines) return marks.map(changes);
    const known = lines.filter((no) => no <= newDoc.lines);
    return RangeSet.of(
      known.map((no) => WRONG.range(newDoc.line(no).from)),
      true,
    );
  },
  provide: (field) => lineNumberMarkers.from(field),
});

import type { Model, ModelStatic } from "sequelize";

/** A model's instance from a row of plain SQL (names as in the table), for `view()`. Columns that were not selected are undefined. */
export function fromRow<M extends Model>(model: ModelStatic<M>, row: object): M {
  const columns = row as Record<string, unknown>;
  const values = Object.entries(model.getAttributes()).flatMap(([attribute, { field }]) =>
    columns[field!] === undefined ? [] : [[attribute, columns[field!]]],
  );
  return model.build(Object.fromEntries(values), { raw: true, isNewRecord: false });
}

import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { company, id, nullable, required } from "./database/columns.ts";

export const TEMPLATE_MODES = ["basic", "visual", "mjml"] as const;
export type TemplateMode = (typeof TEMPLATE_MODES)[number];
type TemplateType = "marketing" | "transactional";

/** A text part that is not blank, otherwise that of the design or the Markdown. */
export const textToSend = (textBody: string | null, designText: string | null): string | null =>
  textBody?.trim() ? textBody : designText;

/** A saved subject and body. Campaigns copy it at the request, so that it may change or go at any time. */
export class Template extends Model<InferAttributes<Template>, InferCreationAttributes<Template>> {
  declare id: CreationOptional<string>;
  declare companyId: string;
  declare name: string;
  declare subject: string;
  declare body: CreationOptional<string>;
  declare preheader: CreationOptional<string | null>;
  declare textBody: CreationOptional<string | null>;
  declare inlineCss: CreationOptional<boolean>;
  /** HTML to send instead of the body, made from it when it was saved (services/lib/made-html/). */
  declare html: CreationOptional<string | null>;
  /** Design document from which the body is made on save (services/lib/design/). */
  declare design: CreationOptional<Record<string, unknown> | null>;
  /** Markdown from which the body is made on save (services/lib/made-html/markdown.ts). */
  declare markdown: CreationOptional<string | null>;
  /** Text part made from the design or the Markdown; a `text_body` that is not blank is sent instead. */
  declare designText: CreationOptional<string | null>;
  declare templateMode: CreationOptional<TemplateMode>;
  declare templateType: CreationOptional<TemplateType>;
  declare createdAt: CreationOptional<Date>;
  declare updatedAt: CreationOptional<Date>;

  static register(sequelize: Sequelize): void {
    Template.init(
      {
        id: id(),
        companyId: company(),
        name: required(DataTypes.TEXT),
        subject: required(DataTypes.TEXT),
        body: required(DataTypes.TEXT, ""),
        preheader: nullable(DataTypes.TEXT),
        textBody: nullable(DataTypes.TEXT),
        inlineCss: required(DataTypes.BOOLEAN, false),
        html: nullable(DataTypes.TEXT),
        design: nullable(DataTypes.JSONB),
        markdown: nullable(DataTypes.TEXT),
        designText: nullable(DataTypes.TEXT),
        templateMode: required(DataTypes.TEXT, "basic"),
        templateType: required(DataTypes.TEXT, "marketing"),
        createdAt: required(DataTypes.DATE),
        updatedAt: required(DataTypes.DATE),
      },
      { sequelize, tableName: "templates" },
    );
  }

  /** Text part to send; blank: made from the HTML. */
  textToSend(): string | null {
    return textToSend(this.textBody, this.designText);
  }

  /** `design` and `markdown` are absent where they were not read: in lists. */
  view() {
    return {
      id: this.id,
      name: this.name,
      subject: this.subject,
      body: this.body,
      preheader: this.preheader,
      text_body: this.textBody,
      inline_css: this.inlineCss,
      ...(this.design === undefined ? {} : { design: this.design }),
      ...(this.markdown === undefined ? {} : { markdown: this.markdown }),
      template_mode: this.templateMode,
      template_type: this.templateType,
      created_at: this.createdAt.toISOString(),
      updated_at: this.updatedAt.toISOString(),
    };
  }
}

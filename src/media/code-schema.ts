import { Artifact } from '../files/schema'
import { defineId, type Id } from '../kernel/ids'
import { nullable, oneOf, type Static, Timestamp, t } from '../kernel/schema'

export const CodeId = defineId('code', 'code')
export type CodeId = Id<'code'>

export const CodeInput = t.Object(
  {
    prompt: t.Optional(t.String({ maxLength: 1_000_000, description: 'What the code should do' })),
    language: t.Optional(t.String({ maxLength: 64, description: 'Such as `python`; the engine chooses if left out' })),
    framework: t.Optional(t.String({ maxLength: 64, description: 'Such as `django`' })),
  },
  { $id: 'CodeOrder' },
)
export type CodeInput = Static<typeof CodeInput>

/** The result of parsing one file. `unchecked` if there is no parser for its language. */
export const CodeCheck = t.Object(
  {
    filename: t.String(),
    language: nullable(t.String()),
    status: oneOf(['ok', 'error', 'unchecked'] as const),
    message: nullable(t.String()),
    line: nullable(t.Integer()),
  },
  { $id: 'CodeCheck' },
)
export type CodeCheck = Static<typeof CodeCheck>

/** Generated code (docs/api.md 6). */
export const MadeCode = t.Object(
  {
    id: CodeId.schema,
    object: t.Literal('code'),
    created: Timestamp,
    content: t.String({ description: 'The whole answer as Markdown' }),
    artifacts: t.Array(Artifact, { description: 'Each file; if there are several, an archive of all comes last' }),
    tools_used: t.Array(t.Object({ name: t.String(), status: oneOf(['success', 'error'] as const) })),
    checks: t.Array(CodeCheck),
    usage: t.Object({
      cost_cents: t.Number(),
      prompt_tokens: t.Integer(),
      completion_tokens: t.Integer(),
      total_tokens: t.Integer(),
    }),
  },
  { $id: 'Code' },
)
export type MadeCode = Static<typeof MadeCode>

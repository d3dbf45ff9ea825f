import { EFFORTS } from '../engines'
import { sha256Hex } from '../kernel/crypto'
import { nullable, oneOf, type Static, t } from '../kernel/schema'
import { assertFits } from '../kernel/validation'
import type { CompletionRequest } from './run'

const maybe = <T extends Parameters<typeof nullable>[0]>(schema: T) => t.Optional(nullable(schema))
const Penalty = maybe(t.Number({ minimum: -2, maximum: 2 }))
const Limit = maybe(t.Integer({ minimum: 1 }))

/** A text that ends an answer. */
const StopText = t.String({ minLength: 1, maxLength: 256 })

const Effort = maybe(oneOf(EFFORTS))

/** Members of a chat order that count on the addresses where clients expect them to (contract 33.2). */
const ChatParameters = t.Object({
  max_completion_tokens: Limit,
  max_tokens: Limit,
  stop: maybe(t.Union([StopText, t.Array(StopText, { maxItems: 16 })])),
  top_p: maybe(t.Number({ exclusiveMinimum: 0, maximum: 1 })),
  frequency_penalty: Penalty,
  presence_penalty: Penalty,
  logit_bias: maybe(t.Record(t.String(), t.Number({ minimum: -100, maximum: 100 }), { maxProperties: 300 })),
  seed: maybe(t.Integer()),
  reasoning_effort: Effort,
  reasoning: maybe(
    t.Object({
      effort: Effort,
      exclude: maybe(t.Boolean()),
      enabled: maybe(t.Boolean()),
      max_tokens: maybe(t.Integer()),
    }),
  ),
  verbosity: maybe(oneOf(['low', 'medium', 'high'] as const)),
  user: maybe(t.String({ maxLength: 512 })),
  safety_identifier: maybe(t.String({ maxLength: 512 })),
})

/** Names of the members that {@link parametersOfChat} reads. */
export const HONOURED_MEMBERS: ReadonlySet<string> = new Set(Object.keys(ChatParameters.properties))

type Tuning = Pick<CompletionRequest, 'maxOutputTokens' | 'sampling' | 'reasoning' | 'endUser'>

/** What these members ask of a run. Throws 400 `validation_error` for a value out of bounds. */
export function parametersOfChat(input: object): Tuning {
  assertFits(ChatParameters, input)
  const sent: Static<typeof ChatParameters> = input
  const limit = sent.max_completion_tokens ?? sent.max_tokens
  const { reasoning } = sent
  const effort = sent.reasoning_effort ?? reasoning?.effort ?? (reasoning?.enabled === false ? 'none' : undefined)
  const user = sent.safety_identifier ?? sent.user
  return {
    ...(limit ? { maxOutputTokens: limit } : {}),
    ...samplingOf({
      topP: sent.top_p,
      seed: sent.seed,
      stop: typeof sent.stop === 'string' ? [sent.stop] : sent.stop,
      frequencyPenalty: sent.frequency_penalty,
      presencePenalty: sent.presence_penalty,
      logitBias: sent.logit_bias,
      verbosity: sent.verbosity,
    }),
    reasoning: { ...(effort ? { effort } : {}), shows: reasoning?.exclude !== true },
    ...endUserOf(user),
  }
}

type Sampling = NonNullable<CompletionRequest['sampling']>

/** How the engine is to pick its words, of what a client sent; nothing of nothing. */
export function samplingOf(sent: { [M in keyof Sampling]: Sampling[M] | null | undefined }): Pick<Tuning, 'sampling'> {
  const members = Object.entries(sent).filter(([, value]) => value != null && !(Array.isArray(value) && !value.length))
  return members.length ? { sampling: Object.fromEntries(members) } : {}
}

/** The client's own name of its user is kept as a hash only (contract 29.1). */
export const endUserOf = (name: string | null | undefined): Pick<Tuning, 'endUser'> =>
  name ? { endUser: sha256Hex(name) } : {}

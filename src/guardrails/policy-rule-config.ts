import { type TSchema, t } from '../kernel/schema'
import { GUARDRAILS } from './catalogue'
import type { Guardrail, GuardrailId } from './guardrail'
import type { GuardrailRule } from './schema'

const DEFAULT_THRESHOLD = 0.8

/** Members that every rule may have (contract 12). */
const COMMON = {
  message: t.Optional(t.String({ maxLength: 512, description: 'Text shown when the rule blocks' })),
  threshold: t.Optional(
    t.Number({
      minimum: 0,
      maximum: 1,
      default: DEFAULT_THRESHOLD,
      description: 'Confidence from which the rule fires, for guardrails that score texts',
    }),
  ),
}

type Properties = Record<string, TSchema>
const propertiesOf = (schema: TSchema): Properties => (schema as { properties?: Properties }).properties ?? {}

/** The whole config of a rule, by guardrail: its own members and the common ones, and no others. */
export const RULE_CONFIGS: ReadonlyMap<GuardrailId, TSchema> = new Map(
  [...GUARDRAILS.values()].map(({ id, config }) => {
    const { properties: _, required: __, ...options } = config as Record<string, unknown>
    return [id, t.Object({ ...COMMON, ...propertiesOf(config) }, { ...options, additionalProperties: false })]
  }),
)

/** JSON Schema of the `config` of a rule. */
export const configSchemaOf = (id: GuardrailId): Record<string, unknown> => ({ ...RULE_CONFIGS.get(id)! })

/** The members that the `config` of a rule may have. */
export const configMembers = (id: GuardrailId): readonly string[] => Object.keys(propertiesOf(RULE_CONFIGS.get(id)!))

/** What a guardrail reads of a rule's config: its own members, with the default of `threshold` where it has one. */
export function detectorConfig(
  { config: schema }: Guardrail,
  config: Record<string, unknown>,
): Record<string, unknown> {
  const own = propertiesOf(schema)
  const given = Object.fromEntries(Object.entries(config).filter(([name]) => Object.hasOwn(own, name)))
  return Object.hasOwn(own, 'threshold') ? { threshold: DEFAULT_THRESHOLD, ...given } : given
}

/** How sure a rule must be to fire, from 0 to 1. */
export const thresholdOf = ({ config }: Pick<GuardrailRule, 'config'>): number =>
  typeof config.threshold === 'number' ? config.threshold : DEFAULT_THRESHOLD

/** The policy author's text for what this rule blocks; null when there is none. */
export const messageOf = ({ config }: Pick<GuardrailRule, 'config'>): string | null =>
  typeof config.message === 'string' && config.message.trim() ? config.message : null

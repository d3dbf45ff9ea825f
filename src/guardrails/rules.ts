import { AppError, invalidInput, quoted } from '../kernel/errors'
import { checker, type TSchema, t } from '../kernel/schema'
import { isBlank } from '../kernel/text'
import { nextTurn } from '../kernel/turns'
import { validationError } from '../kernel/validation'
import { vendorNamedIn } from '../kernel/vendor-names'
import { GUARDRAILS } from './catalogue'
import { policyInvalid } from './errors'
import { type Guardrail, type GuardrailId, InvalidConfig } from './guardrail'
import type { GuardrailRule, WrittenRule } from './schema'

const MOST_RULES = 32
const DEFAULT_THRESHOLD = 0.8

/** Members that every rule may have (contract 12). */
const COMMON = {
  message: t.Optional(t.String({ maxLength: 512, description: 'Said instead of what is blocked' })),
  threshold: t.Optional(
    t.Number({ minimum: 0, maximum: 1, default: DEFAULT_THRESHOLD, description: 'How sure it must be' }),
  ),
}

type Properties = Record<string, TSchema>
const propertiesOf = (schema: TSchema): Properties => (schema as { properties?: Properties }).properties ?? {}

/** The whole config of each guardrail: its own members and the common ones, and no others. */
const CONFIGS = new Map(
  [...GUARDRAILS.values()].map(({ id, config }) => {
    const { properties: _, required: __, ...options } = config as Record<string, unknown>
    return [id, t.Object({ ...COMMON, ...propertiesOf(config) }, { ...options, additionalProperties: false })]
  }),
)
const CHECKS = new Map([...CONFIGS].map(([id, schema]) => [id, checker(schema)]))

/** JSON Schema of what `config` of a rule may hold. */
export const configSchemaOf = (id: GuardrailId): Record<string, unknown> => ({ ...CONFIGS.get(id)! })

/** Throws 400: `validation_error` for a name that shows nothing, `guardrail_policy_invalid` for a vendor's. */
export function assertName(name: string): void {
  if (isBlank(name)) throw invalidInput('name', '"name" is blank.')
  assertLabel(name, 'name')
}

/** Throws 400 `guardrail_policy_invalid` when a label names an upstream vendor, however it is spelt. */
export function assertLabel(label: string, path: string): void {
  if (vendorNamedIn(label)) {
    throw policyInvalid(path, `"${path}" names an upstream provider. Say what it is for instead.`)
  }
}

/**
 * Rules as they are stored, compiled once to see that they can be, one in each turn of the event loop: each known, in a phase and with a verdict that its guardrail has, and with a config
 * that can be compiled. Throws 400 `guardrail_policy_invalid`, naming the member that is wrong.
 */
export async function readRules(written: readonly WrittenRule[]): Promise<GuardrailRule[]> {
  if (written.length > MOST_RULES) {
    throw policyInvalid('rules', `"rules" has ${written.length} entries; a policy has ${MOST_RULES} at most.`)
  }
  const read: GuardrailRule[] = []
  for (const [place, rule] of written.entries()) {
    read.push(readRule(rule, `rules[${place}]`))
    await nextTurn()
  }
  return read
}

function readRule({ guardrail_id, phase, verdict, config = {} }: WrittenRule, path: string): GuardrailRule {
  const guardrail = GUARDRAILS.get(guardrail_id as GuardrailId)
  if (!guardrail) {
    throw policyInvalid(
      `${path}.guardrail_id`,
      `"${path}.guardrail_id" is "${quoted(guardrail_id)}", which is no guardrail. GET /guardrails lists them.`,
    )
  }
  const isOf = <Word extends string>(words: readonly Word[], member: string, word: string): Word => {
    if (words.includes(word as Word)) return word as Word
    const sentence = `"${path}.${member}" is "${quoted(word)}"; ${guardrail.id} takes ${words.join(', ')}.`
    throw policyInvalid(`${path}.${member}`, sentence)
  }
  const rule = {
    guardrail_id: guardrail.id,
    phase: isOf(guardrail.phases, 'phase', phase),
    verdict: isOf(guardrail.verdicts, 'verdict', verdict),
    config,
  }
  assertConfig(guardrail, config, `${path}.config`)
  return rule
}

function assertConfig(guardrail: Guardrail, config: Record<string, unknown>, path: string): void {
  const members = Object.keys(propertiesOf(CONFIGS.get(guardrail.id)!))
  const stranger = Object.keys(config).find((name) => !members.includes(name))
  if (stranger !== undefined) {
    const place = `${path}.${quoted(stranger)}`
    throw policyInvalid(place, `"${place}" is unknown; the config of ${guardrail.id} has ${members.join(', ')}.`)
  }
  const issues = CHECKS.get(guardrail.id)!.issues(config)
  if (issues.length) {
    const found = issues.map((issue) => ({ ...issue, path: ['config', ...issue.path.split('.').filter(Boolean)] }))
    const { message, details = [] } = validationError(found, { config })
    const whole = (text: string) => text.replaceAll('"config', `"${path}`)
    throw new AppError('invalid', 'guardrail_policy_invalid', whole(message), {
      param: details[0] ? placed(details[0].path, path) : path,
      details: details.map((detail) => ({ path: placed(detail.path, path), message: whole(detail.message) })),
    })
  }
  try {
    guardrail.prepare(ownConfig(guardrail, config))
  } catch (error) {
    if (!(error instanceof InvalidConfig)) throw error
    const place = error.member ? `${path}.${error.member}` : path
    throw policyInvalid(place, `"${place}" ${error.message}.`)
  }
}

const placed = (found: string, path: string): string => path + found.slice('config'.length)

/** What a guardrail reads of a rule's config: what is its own, with the threshold it has by default. */
export function ownConfig({ config: schema }: Guardrail, config: Record<string, unknown>): Record<string, unknown> {
  const own = propertiesOf(schema)
  const given = Object.fromEntries(Object.entries(config).filter(([name]) => Object.hasOwn(own, name)))
  return Object.hasOwn(own, 'threshold') ? { threshold: DEFAULT_THRESHOLD, ...given } : given
}

/** How sure a rule must be. */
export const ownThreshold = ({ config }: Pick<GuardrailRule, 'config'>): number =>
  typeof config.threshold === 'number' ? config.threshold : DEFAULT_THRESHOLD

/** The author's own words for what is blocked; null without any. */
export const messageOf = ({ config }: Pick<GuardrailRule, 'config'>): string | null =>
  typeof config.message === 'string' && config.message.trim() ? config.message : null

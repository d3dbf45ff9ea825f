import { compiledOf } from '../kernel/compiled'
import { sha256Hex } from '../kernel/crypto'
import { AppError, invalidInput, quoted } from '../kernel/errors'
import { nextTurn } from '../kernel/loop'
import { checker, type TSchema, t } from '../kernel/schema'
import { isBlank } from '../kernel/text'
import { assertFits, validationError } from '../kernel/validation'
import { vendorNamedIn } from '../text'
import { GUARDRAILS } from './catalogue'
import { policyInvalid } from './errors'
import {
  DEFAULT_THRESHOLD,
  type Guardrail,
  type GuardrailId,
  type Inspect,
  InvalidConfig,
  type Phase,
} from './guardrail'
import {
  type GuardrailPolicyId,
  type GuardrailRule,
  NewPolicy,
  PHASES,
  type PolicyPatch,
  type WrittenRule,
} from './schema'
import type { PolicyRow } from './table'

/** Members that every rule may have (docs/api.md 12). */
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

/** The complete config of a rule, by guardrail: its own members and the common ones, and no others. */
const RULE_CONFIGS: ReadonlyMap<GuardrailId, TSchema> = new Map(
  [...GUARDRAILS.values()].map(({ id, config }) => {
    const { properties: _, required: __, ...options } = config as Record<string, unknown>
    return [id, t.Object({ ...COMMON, ...propertiesOf(config) }, { ...options, additionalProperties: false })]
  }),
)

/** JSON Schema of the `config` of a rule. */
export const configSchemaOf = (id: GuardrailId): Record<string, unknown> => ({ ...RULE_CONFIGS.get(id)! })

/** The part of a rule's config that the guardrail reads: its members, with the default `threshold` if it has one. */
function detectorConfig({ config: schema }: Guardrail, config: Record<string, unknown>): Record<string, unknown> {
  const own = propertiesOf(schema)
  const configured = Object.fromEntries(Object.entries(config).filter(([name]) => Object.hasOwn(own, name)))
  return Object.hasOwn(own, 'threshold') ? { threshold: DEFAULT_THRESHOLD, ...configured } : configured
}

/** The certainty from which a rule fires, from 0 to 1. */
export const thresholdOf = ({ config }: Pick<GuardrailRule, 'config'>): number =>
  typeof config.threshold === 'number' ? config.threshold : DEFAULT_THRESHOLD

/** The policy author's text for blocked content, or null. */
export const messageOf = ({ config }: Pick<GuardrailRule, 'config'>): string | null =>
  typeof config.message === 'string' && config.message.trim() ? config.message : null

/** Rules that run together, in the order of the policy. Sets with equal keys have equal rules. */
export type RuleSet = { key: string; rules: readonly CompiledRule[] }

/** The rules of a policy, grouped by the kinds of text they run on. */
type RuleSets = {
  of(phase: Phase): RuleSet
  /** The input rules that also run on the context of a request: personas, earlier answers, memories, tools. */
  accompanying: RuleSet
  /** The output rules that can hold back a streamed answer, by whether they read stretches or the whole of it. */
  streamed: { stretch: RuleSet; whole: RuleSet }
  /** The output rules that also run on the values of a JSON answer. */
  inJson: RuleSet
}

/** Guardrails whose finding in a part does not apply to the whole. */
const WHOLE_TEXT_ONLY: ReadonlySet<GuardrailId> = new Set([
  'max_length',
  'language',
  'topic_restriction',
  'groundedness',
])

/** Guardrails that check only the user's request. A persona gives orders, an earlier answer may be off topic. */
const REQUESTS_ONLY: ReadonlySet<GuardrailId> = new Set([
  'prompt_injection',
  'jailbreak',
  'topic_restriction',
  'language',
  'max_length',
])

/** Whether a guardrail reads only the user's request and not its context. */
export const readsRequestsOnly = (id: GuardrailId): boolean => REQUESTS_ONLY.has(id)

/** Groups the rules. `fingerprint` identifies the policy in the keys of the sets. */
function ruleSetsOf(fingerprint: string, all: readonly CompiledRule[]): RuleSets {
  const set = (name: string, fits: (rule: CompiledRule) => boolean): RuleSet => ({
    key: `${fingerprint} ${name}`,
    rules: all.filter(fits),
  })
  const byPhase = new Map(PHASES.map((name) => [name, set(name, ({ phase }) => phase === name)]))
  const holds = ({ phase, verdict }: CompiledRule) => phase === 'output' && verdict !== 'flag'
  return {
    of: (phase) => byPhase.get(phase)!,
    accompanying: set(
      'accompanying',
      ({ phase, guardrail_id }) => phase === 'input' && !readsRequestsOnly(guardrail_id),
    ),
    streamed: {
      stretch: set('stretch', (rule) => holds(rule) && !WHOLE_TEXT_ONLY.has(rule.guardrail_id)),
      whole: set('whole', (rule) => holds(rule) && WHOLE_TEXT_ONLY.has(rule.guardrail_id)),
    },
    inJson: set('json', ({ phase, guardrail_id }) => phase === 'output' && !WHOLE_TEXT_ONLY.has(guardrail_id)),
  }
}

/** A stored rule with its guardrail ready to inspect texts. */
export type CompiledRule = GuardrailRule & {
  inspect: Inspect
  /** The statement that an engine judges if the rule is unsure. */
  question?: string
}

/** Compiles a rule. A rule of an older release that no longer compiles fails on every text, so it fails closed. */
export function compileRule(rule: GuardrailRule): CompiledRule {
  try {
    const guardrail = GUARDRAILS.get(rule.guardrail_id)!
    const config = detectorConfig(guardrail, rule.config)
    const question = guardrail.question?.(config)
    return {
      ...rule,
      inspect: guardrail.prepare(config, rule.verdict),
      ...(question === undefined ? {} : { question }),
    }
  } catch (error) {
    const inspect = () => {
      throw error
    }
    return { ...rule, inspect }
  }
}

/** Estimated bytes of a rule besides its guardrail's `weight`: the config, kept in several forms. */
const BASE_BYTES = 2_048
const BYTES_A_CHAR = 24

/** Estimated memory of compiled rules, in bytes. */
export const weightOf = (rules: readonly CompiledRule[]): number =>
  rules.reduce(
    (sum, { config, inspect }) =>
      sum + BASE_BYTES + BYTES_A_CHAR * JSON.stringify(config).length + (inspect.weight ?? 0),
    0,
  )

/**
 * A policy ready to run. Policies with equal fingerprints find the same in the same text. The fingerprint is part of
 * cache keys (docs/api.md 22.1).
 */
export type CompiledPolicy = RuleSets & { id: GuardrailPolicyId; fingerprint: string }

const stored = compiledOf<CompiledPolicy>('guardrail policy')
const underWay = new Map<string, Promise<CompiledPolicy>>()

type Stored = Pick<PolicyRow, 'id' | 'owner' | 'rules'>

/** The cached policy if it has this fingerprint. Undefined when it must be compiled again. */
export function compiledPolicy(id: GuardrailPolicyId, fingerprint: string): CompiledPolicy | undefined {
  const known = stored.get(id)
  return known?.fingerprint === fingerprint ? known : undefined
}

/** Call this when a policy was changed or deleted. */
export const dropCompiledPolicy = (id: GuardrailPolicyId): void => stored.drop(id)

/** Compiles a stored policy once, even with repeated reads and concurrent callers. */
export async function compilePolicy(row: Stored): Promise<CompiledPolicy> {
  const fingerprint = sha256Hex(JSON.stringify([row.id, row.rules]))
  const known = compiledPolicy(row.id, fingerprint)
  if (known) return known
  const begun = underWay.get(fingerprint) ?? compile(row, fingerprint)
  underWay.set(fingerprint, begun)
  try {
    return await begun
  } finally {
    underWay.delete(fingerprint)
  }
}

/** Compiles one rule per turn of the event loop (docs/promises.md I28). */
async function compile({ id, owner, rules }: Stored, fingerprint: string): Promise<CompiledPolicy> {
  const compiled: CompiledRule[] = []
  for (const rule of rules) {
    compiled.push(compileRule(rule))
    await nextTurn()
  }
  const policy = { id, fingerprint, ...ruleSetsOf(fingerprint, compiled) }
  stored.put(id, policy, { owner, weight: weightOf(compiled) })
  return policy
}

const MAX_RULES = 32

const CONFIG_CHECKERS = new Map([...RULE_CONFIGS].map(([id, schema]) => [id, checker(schema)]))

/** Throws 400 `guardrail_policy_invalid` when a label names an upstream vendor, in any spelling. */
function assertLabel(label: string, path: string): void {
  if (vendorNamedIn(label)) {
    throw policyInvalid(path, `"${path}" names an upstream vendor, which is not allowed. Describe its purpose instead.`)
  }
}

/**
 * Checks the members of a policy that were sent, and returns its rules as stored. Throws 400 `validation_error` and
 * `guardrail_policy_invalid`.
 */
export async function validateContent({ name, description, rules }: PolicyPatch): Promise<GuardrailRule[] | undefined> {
  if (name !== undefined) {
    if (isBlank(name)) throw invalidInput('name', '"name" is blank.')
    assertLabel(name, 'name')
  }
  if (description) assertLabel(description, 'description')
  return rules && validateRules(rules)
}

/**
 * Validates the body of a new policy like `POST /guardrail-policies`, without a server, and returns its content as
 * stored (docs/api.md 12). Throws 400 `validation_error` and `guardrail_policy_invalid`.
 */
export async function reviewPolicy(body: unknown) {
  assertFits(NewPolicy, body)
  const { name, description = null, is_default = false } = body
  return { name, description, is_default, rules: (await validateContent(body)) ?? [] }
}

/**
 * Validates the rules of a request and returns them as stored. Each must name a guardrail of the catalogue, with a
 * phase and a verdict it supports and a config that compiles (docs/api.md 12). Compiles one rule per turn of the event
 * loop. Throws 400 `guardrail_policy_invalid`, naming the invalid member.
 */
export async function validateRules(written: readonly WrittenRule[]): Promise<GuardrailRule[]> {
  if (written.length > MAX_RULES) {
    throw policyInvalid('rules', `"rules" has ${written.length} entries; at most ${MAX_RULES} are allowed.`)
  }
  const valid: GuardrailRule[] = []
  for (const [place, rule] of written.entries()) {
    valid.push(validateRule(rule, `rules[${place}]`))
    await nextTurn()
  }
  return valid
}

function validateRule({ guardrail_id, phase, verdict, config = {} }: WrittenRule, path: string): GuardrailRule {
  const guardrail = GUARDRAILS.get(guardrail_id as GuardrailId)
  if (!guardrail) {
    throw policyInvalid(
      `${path}.guardrail_id`,
      `"${path}.guardrail_id" is "${quoted(guardrail_id)}", which is not a guardrail. GET /guardrails lists them.`,
    )
  }
  const isOf = <Word extends string>(words: readonly Word[], member: string, word: string): Word => {
    if (words.includes(word as Word)) return word as Word
    const sentence = `"${path}.${member}" is "${quoted(word)}"; ${guardrail.id} allows ${words.join(', ')}.`
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
  // The members that the `config` of a rule may have.
  const members = Object.keys(propertiesOf(RULE_CONFIGS.get(guardrail.id)!))
  const unknown = Object.keys(config).find((name) => !members.includes(name))
  if (unknown !== undefined) {
    const place = `${path}.${quoted(unknown)}`
    throw policyInvalid(place, `"${place}" is unknown; the config of ${guardrail.id} can have ${members.join(', ')}.`)
  }
  const issues = CONFIG_CHECKERS.get(guardrail.id)!.issues(config)
  if (issues.length) {
    const found = issues.map((issue) => ({ ...issue, path: ['config', ...issue.path.split('.').filter(Boolean)] }))
    const { message, details = [] } = validationError(found, { config })
    const whole = (text: string) => text.replaceAll('"config', `"${path}`)
    throw new AppError('guardrail_policy_invalid', whole(message), {
      param: details[0] ? placed(details[0].path, path) : path,
      details: details.map((detail) => ({ path: placed(detail.path, path), message: whole(detail.message) })),
    })
  }
  try {
    guardrail.prepare(detectorConfig(guardrail, config))
  } catch (error) {
    if (!(error instanceof InvalidConfig)) throw error
    const place = error.member ? `${path}.${error.member}` : path
    throw policyInvalid(place, `"${place}" ${error.message}.`)
  }
}

const placed = (found: string, path: string): string => path + found.slice('config'.length)

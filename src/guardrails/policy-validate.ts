import { AppError, invalidInput, quoted } from '../kernel/errors'
import { checker } from '../kernel/schema'
import { isBlank } from '../kernel/text'
import { nextTurn } from '../kernel/turns'
import { validationError } from '../kernel/validation'
import { vendorNamedIn } from '../text'
import { GUARDRAILS } from './catalogue'
import { policyInvalid } from './errors'
import { type Guardrail, type GuardrailId, InvalidConfig } from './guardrail'
import { configMembers, detectorConfig, RULE_CONFIGS } from './policy-rule-config'
import type { GuardrailRule, PolicyPatch, WrittenRule } from './schema'

const MAX_RULES = 32

const CONFIG_CHECKERS = new Map([...RULE_CONFIGS].map(([id, schema]) => [id, checker(schema)]))

/** Throws 400: `validation_error` for a blank name, `guardrail_policy_invalid` for one that names an upstream vendor. */
function assertName(name: string): void {
  if (isBlank(name)) throw invalidInput('name', '"name" is blank.')
  assertLabel(name, 'name')
}

/** Throws 400 `guardrail_policy_invalid` when a label names an upstream vendor, however it is spelt. */
function assertLabel(label: string, path: string): void {
  if (vendorNamedIn(label)) {
    throw policyInvalid(path, `"${path}" names an upstream vendor, which is not allowed. Describe its purpose instead.`)
  }
}

/**
 * Checks the members of a policy that were sent, and returns its rules as they are stored. Throws 400
 * `validation_error` and `guardrail_policy_invalid`.
 */
export async function validateContent({ name, description, rules }: PolicyPatch): Promise<GuardrailRule[] | undefined> {
  if (name !== undefined) assertName(name)
  if (description) assertLabel(description, 'description')
  return rules && validateRules(rules)
}

/**
 * The rules of a request as they are stored. Each must name a guardrail of the catalogue, with a phase and a verdict
 * it supports and a config that compiles (contract 12); that is tried out, one rule in each turn of the event loop.
 * Throws 400 `guardrail_policy_invalid`, naming the member that is wrong.
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
  const members = configMembers(guardrail.id)
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
    throw new AppError('invalid', 'guardrail_policy_invalid', whole(message), {
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

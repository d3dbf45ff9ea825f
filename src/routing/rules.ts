import { ENGINES, engineOfMode, findEngine } from '../engines'
import { invalidInput, quoted } from '../kernel/errors'
import { nextTurn } from '../kernel/loop'
import { charactersIn, hasAtMost, isBlank } from '../kernel/text'
import { assertFits } from '../kernel/validation'
import {
  CHECK_BUDGET_MS,
  compilePattern,
  type PatternCheck,
  PatternRefused,
  type RulePattern,
  vendorMeantBy,
  vendorNamedIn,
} from '../text'
import { preferenceInvalid } from './errors'
import {
  DEFAULT_CONFIDENCE,
  DEFAULT_FLOOR,
  type Floors,
  LIMITS,
  type NewExample,
  NewPreference,
  type NewRule,
  type PreferencePatch,
  type RoutingExample,
  type RoutingRule,
} from './schema'

type Confident = Pick<RoutingRule, 'target_mode' | 'confidence'>

/** Warnings about rules whose confidence is below the floor of their mode (docs/api.md 22.2, stage 1). */
export const belowFloor = (rules: readonly Confident[], floors: Floors = {}): string[] =>
  rules.flatMap(({ target_mode: mode, confidence }, index) => {
    const floor = floors[mode] ?? DEFAULT_FLOOR
    if (confidence >= floor) return []
    return `"rules[${index}]" has confidence ${confidence}, below the floor of ${floor} for mode "${mode}", so it decides nothing. Raise it, or lower the floor in "confidence_floor_overrides".`
  })

const LOWEST = 0.5
const HIGHEST = 0.99
/** Maximum size of a preference's patterns, with repetitions written out. Bounds the time to compile them. */
const MAX_TOTAL_SIZE = 26_000

/** The modes a rule may choose: those with their own engine, except `auto`. */
const MODES: readonly string[] = ENGINES.map(({ mode }) => mode).filter((mode) => mode !== 'auto')

/** Clamps a confidence to [0.5, 0.99] (docs/api.md 13). */
const clamp = (confidence: number): number => Math.min(HIGHEST, Math.max(LOWEST, confidence))

/** Throws 400 `routing_preference_invalid` when a label names an upstream vendor, in any spelling. */
function assertLabel(label: string, path: string): void {
  if (vendorNamedIn(label)) {
    throw preferenceInvalid(
      path,
      `"${path}" names an upstream vendor, which is not allowed. Describe its purpose instead.`,
    )
  }
}

/** Checks the members present in a body and returns them as stored. Throws 400 `routing_preference_invalid`. */
export async function readContent(content: PreferencePatch, check: PatternCheck) {
  const { name, description, rules, examples, confidence_floor_overrides: floors } = content
  if (name !== undefined) {
    if (isBlank(name)) throw invalidInput('name', '"name" is blank.')
    assertLabel(name, 'name')
  }
  if (description) assertLabel(description, 'description')
  return {
    floors: floors && readFloors(floors),
    examples: examples && readExamples(examples),
    rules: rules && (await readRules(rules, check)),
  }
}

/**
 * Validates rules and returns them as stored: compiles every pattern, checks backtracking ones and clamps confidences.
 * Lets other requests run after each rule. Throws 400 `routing_preference_invalid`, naming the member and its problem.
 */
export async function readRules(rules: readonly NewRule[], check: PatternCheck): Promise<RoutingRule[]> {
  if (rules.length > LIMITS.rules) {
    throw preferenceInvalid('rules', `"rules" has ${rules.length} entries; at most ${LIMITS.rules} are allowed.`)
  }
  const read: RoutingRule[] = []
  let size = 0
  for (const [index, rule] of rules.entries()) {
    const path = `rules[${index}]`
    const pattern = readPattern(rule.pattern, `${path}.pattern`)
    size += pattern.size
    if (size > MAX_TOTAL_SIZE) {
      throw preferenceInvalid(
        'rules',
        '"rules" are too large in total once repetitions such as {1,500} are expanded. Send fewer or shorter repetitions.',
      )
    }
    if (Number.isFinite(pattern.steps))
      assertNoVendors(vendorMeantBy(rule.pattern, pattern.test) !== null, `${path}.pattern`)
    else await assertQuick(rule.pattern, `${path}.pattern`, check)
    read.push(readRule(rule, path))
    await nextTurn()
  }
  return read
}

/** Tries a backtracking pattern in a process, because on the event loop it could block all other requests. */
async function assertQuick(pattern: string, path: string, check: PatternCheck): Promise<void> {
  const checked = await check(pattern)
  assertNoVendors(checked.is === 'vendors', path)
  if (checked.is === 'unknown') {
    throw preferenceInvalid(path, `"${path}" is "${quoted(pattern)}" and cannot run here: ${checked.problem}.`)
  }
  if (checked.is === 'late') {
    const message = `"${path}" needs backtracking, and checking it and the rules before it took more than ${CHECK_BUDGET_MS / 1_000} s. ${REPAIR}`
    throw preferenceInvalid(path, message)
  }
  if (checked.is === 'endless') {
    const { length } = checked.text
    const message = `"${path}" needs backtracking and takes more than 50 ms on ${length} characters such as "${quoted(checked.text)}". ${REPAIR}`
    throw preferenceInvalid(path, message)
  }
}

/** The advice in errors about slow patterns. */
const REPAIR =
  'Write it without look-around and back-references, or start it with ^ or \\b and avoid a repetition inside a repetition.'

function assertNoVendors(meansVendor: boolean, path: string): void {
  if (!meansVendor) return
  throw preferenceInvalid(
    path,
    `"${path}" names an upstream vendor, which is not allowed. Match the subject of the prompt instead.`,
  )
}

function readPattern(pattern: string, path: string): RulePattern {
  if (pattern === '') throw preferenceInvalid(path, `"${path}" is empty, which would match every prompt.`)
  try {
    return compilePattern(pattern)
  } catch (error) {
    if (!(error instanceof PatternRefused)) throw error
    throw preferenceInvalid(path, `"${path}" is "${quoted(pattern)}" and ${error.message}.`)
  }
}

function readRule(rule: NewRule, path: string): RoutingRule {
  const description = rule.description ?? null
  if (description !== null) {
    assertLength(description, `${path}.description`, LIMITS.ruleDescriptionChars)
    assertLabel(description, `${path}.description`)
  }
  const mode = readMode(rule.target_mode, `${path}.target_mode`)
  const engine = readEngine(rule.target_engine, `${path}.target_engine`)
  if (engine !== null) {
    // Image and video engines cannot answer text modes, and text engines cannot answer image and video modes.
    const [makes, wants] = [findEngine(engine)!.kind, engineOfMode(mode)!.kind]
    const at = `${path}.target_engine`
    const message = `"${at}" is "${engine}", which makes ${makes}, while mode "${mode}" wants ${wants}. Name an engine of that kind, or leave it out.`
    if (makes !== wants) throw preferenceInvalid(at, message)
  }
  return {
    pattern: rule.pattern,
    target_mode: mode,
    target_engine: engine,
    confidence: clamp(rule.confidence ?? DEFAULT_CONFIDENCE),
    description,
  }
}

/** Throws 400 `routing_preference_invalid` for over 30 examples, long prompts, unknown modes and engines. */
function readExamples(examples: readonly NewExample[]): RoutingExample[] {
  if (examples.length > LIMITS.examples) {
    throw preferenceInvalid(
      'examples',
      `"examples" has ${examples.length} entries; at most ${LIMITS.examples} are allowed.`,
    )
  }
  return examples.map(({ prompt, expected_mode, expected_engine }, index) => {
    const path = `examples[${index}]`
    assertLength(prompt, `${path}.prompt`, LIMITS.promptChars)
    return {
      prompt,
      expected_mode: readMode(expected_mode, `${path}.expected_mode`),
      expected_engine: readEngine(expected_engine, `${path}.expected_engine`),
    }
  })
}

/** Floors clamped to [0.5, 0.99]. Throws 400 `routing_preference_invalid` for an unknown mode. */
export function readFloors(floors: Readonly<Record<string, number>>): Floors {
  const read = Object.entries(floors).map(([mode, floor]): [string, number] => [
    readMode(mode, `confidence_floor_overrides.${quoted(mode)}`),
    clamp(floor),
  ])
  return Object.fromEntries(read)
}

type Refuse = (path: string, message: string) => Error

/** Returns a mode that rules may choose. Throws 400 for any other word, by default `routing_preference_invalid`. */
export function readMode(mode: string, path: string, refuse: Refuse = preferenceInvalid): string {
  if (MODES.includes(mode)) return mode
  throw refuse(path, `"${path}" is "${quoted(mode)}"; it can be ${MODES.join(', ')}.`)
}

/** The canonical id of an engine, or null when no engine is named. Throws 400 for an unknown engine. */
export function readEngine(
  id: string | null | undefined,
  path: string,
  refuse: Refuse = preferenceInvalid,
): string | null {
  if (id === null || id === undefined) return null
  const engine = findEngine(id)
  if (engine) return engine.id
  throw refuse(path, `"${path}" is "${quoted(id)}", which is not an engine. GET /models lists them.`)
}

function assertLength(text: string, path: string, max: number): void {
  if (text.length === 0) throw preferenceInvalid(path, `"${path}" is empty.`)
  if (hasAtMost(text, max)) return
  throw preferenceInvalid(path, `"${path}" has ${charactersIn(text)} characters; at most ${max} are allowed.`)
}

/** Only the server tries backtracking patterns, because it can run them in a process. */
const leaveToServer: PatternCheck = async () => ({ is: 'fine' })

/**
 * Validates the body of a new preference like `POST /routing-preferences`, without a server, and returns its content as
 * stored. Does not try backtracking patterns (docs/api.md 13). Throws 400 `validation_error` and
 * `routing_preference_invalid`.
 */
export async function reviewPreference(body: unknown) {
  assertFits(NewPreference, body)
  const { name, description = null, is_default = false } = body
  const { rules = [], examples = [], floors = {} } = await readContent(body, leaveToServer)
  return { name, description, is_default, rules, examples, confidence_floor_overrides: floors }
}

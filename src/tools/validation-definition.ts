import type { JsonSchema } from '../engines'
import { type ErrorDetail, quoted } from '../kernel/errors'
import {
  ANNOTATIONS,
  FORMS,
  heldBy,
  isSchema,
  LIST_OF_SCHEMAS,
  MAP_OF_SCHEMAS,
  REFERENCES,
} from './validation-keywords'
import { readPattern, type SizeOf } from './validation-pattern'

const MAX_SCHEMA_BYTES = 32 * 1024
/** Maximum subschemas in one schema, because compiling takes about 1 ms for each and blocks the event loop. */
const MAX_PARTS = 200
/** Maximum number of compiled keywords, for the same reason: a part with many takes several times as long. */
const MAX_KEYWORDS = 600
const MAX_DEPTH = 32
const MAX_PROBLEMS = 10

/** Total size of the patterns one request may contain: compiling takes about 7 µs per step. */
export type Allowance = { patternSteps: number }
export const newAllowance = (): Allowance => ({ patternSteps: 10_000 })

type Look = {
  root: JsonSchema
  allowance: Allowance
  sizeOf: SizeOf
  anchors: ReadonlySet<string>
  parts: number
  keywords: number
  problems: ErrorDetail[]
}

/**
 * The faults of an untrusted schema, each with its path: size, depth, malformed keywords, patterns RE2 cannot run, and
 * references that lead nowhere or outside (docs/attacks.md B31). Does not compile the schema and fetches nothing.
 * `allowance` is shared by the schemas of one request. `sizeOf` throws for a rejected pattern, by default one that RE2
 * cannot run.
 */
export function problemsOf(
  schema: JsonSchema,
  path: string,
  allowance = newAllowance(),
  sizeOf: SizeOf = (source) => readPattern(source).size,
): ErrorDetail[] {
  return [
    ...(schema.type === undefined || [schema.type].flat().includes('object')
      ? []
      : [{ path: `${path}.type`, message: 'must be "object"' }]),
    ...problemsOfResult(schema, path, allowance, sizeOf),
  ].slice(0, MAX_PROBLEMS)
}

/** Like {@link problemsOf}, for the schema of a tool's result, which unlike arguments may have any type. */
export function problemsOfResult(
  schema: JsonSchema,
  path: string,
  allowance = newAllowance(),
  sizeOf: SizeOf = (source) => readPattern(source).size,
): ErrorDetail[] {
  const bytes = Buffer.byteLength(JSON.stringify(schema))
  if (bytes > MAX_SCHEMA_BYTES) {
    return [{ path, message: `has ${bytes} bytes as JSON; at most ${MAX_SCHEMA_BYTES} are allowed` }]
  }
  const look: Look = {
    root: schema,
    allowance,
    sizeOf,
    anchors: anchorsIn(schema),
    parts: 0,
    keywords: 0,
    problems: [],
  }
  lookAt(schema, path, 0, look)
  return look.problems
}

function lookAt(value: unknown, path: string, depth: number, look: Look): void {
  const report = (message: string, at = path) => look.problems.push({ path: at, message })
  if (look.problems.length >= MAX_PROBLEMS || look.parts > MAX_PARTS || look.keywords > MAX_KEYWORDS) return
  if (typeof value === 'boolean') return
  if (!isSchema(value)) return void report('must be a schema: an object, true or false')
  if (++look.parts > MAX_PARTS)
    return void report(`is part ${look.parts} of the schema; at most ${MAX_PARTS} are allowed`)
  if (depth > MAX_DEPTH) return void report(`is nested deeper than ${MAX_DEPTH} schemas`)
  for (const [keyword, held] of Object.entries(value)) {
    const at = `${path}.${keyword}`
    // The number of code pieces that the keyword is compiled to.
    if (!ANNOTATIONS.has(keyword))
      look.keywords += keyword === 'dependentRequired' && isSchema(held) ? Object.keys(held).length : 1
    if (look.keywords > MAX_KEYWORDS)
      return void report(
        `is keyword ${MAX_KEYWORDS + 1} of the schema or later; at most ${MAX_KEYWORDS} are allowed`,
        at,
      )
    const problem = problemWith(keyword, held, look)
    if (problem) report(problem, at)
    else for (const inner of heldBy(keyword, held, at)) lookAt(inner.value, inner.path, depth + 1, look)
  }
}

function problemWith(keyword: string, value: unknown, look: Look): string | null {
  if (LIST_OF_SCHEMAS.has(keyword) && !(Array.isArray(value) && value.length)) return 'must be a list of schemas'
  if (MAP_OF_SCHEMAS.has(keyword) && !isSchema(value)) return 'must be an object of schemas'
  const form = Object.hasOwn(FORMS, keyword) ? FORMS[keyword] : undefined
  if (form && !form.fits(value)) return `must be ${form.wanted}`
  if (keyword === 'pattern') return patternProblem(value as string, look)
  if (keyword === 'patternProperties')
    return (
      Object.keys(value as object)
        .map((source) => patternProblem(source, look))
        .find(Boolean) ?? null
    )
  if (REFERENCES.has(keyword)) return referenceProblem(value as string, look)
  return null
}

function patternProblem(source: string, { allowance, sizeOf }: Look): string | null {
  if (allowance.patternSteps <= 0)
    return `${quoted(source)} is one pattern too many: the patterns of this request are too complex together`
  try {
    allowance.patternSteps -= sizeOf(source)
    return null
  } catch (error) {
    allowance.patternSteps -= source.length
    return `${quoted(source)} ${(error as Error).message}`
  }
}

function referenceProblem(reference: string, { root, anchors }: Look): string | null {
  if (!reference.startsWith('#')) {
    return `${quoted(reference)} points outside the schema; only references within it (#/$defs/…) work`
  }
  const found =
    reference.startsWith('#/') || reference === '#' ? isSchemaAt(root, reference) : anchors.has(reference.slice(1))
  return found ? null : `${quoted(reference)} does not exist in this schema`
}

function isSchemaAt(root: JsonSchema, reference: string): boolean {
  let node: unknown = root
  for (const step of reference.split('/').slice(1)) {
    const name = decoded(step).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, name)) return false
    node = (node as Record<string, unknown>)[name]
  }
  return isSchema(node) || typeof node === 'boolean'
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

/** The schema of parameters without null, and with an object for properties that are an empty list, as some write it. */
export const withoutEmpty = (schema: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(schema).flatMap(([name, value]) =>
      value === null ? [] : [[name, name === 'properties' && Array.isArray(value) && !value.length ? {} : value]],
    ),
  )

/** The anchor names declared anywhere in the schema. */
function anchorsIn(schema: JsonSchema): Set<string> {
  const names = new Set<string>()
  const visit = (value: unknown, depth: number): void => {
    if (!isSchema(value) || depth > MAX_DEPTH) return
    for (const name of [value.$anchor, value.$dynamicAnchor]) if (typeof name === 'string') names.add(name)
    for (const [keyword, held] of Object.entries(value)) {
      for (const inner of heldBy(keyword, held, '')) visit(inner.value, depth + 1)
    }
  }
  visit(schema, 0)
  return names
}

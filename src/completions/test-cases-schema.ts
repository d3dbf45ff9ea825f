import { JobId } from '../jobs/schema'
import { MODES } from '../kernel/caller'
import { defineId, type Id, OrgId } from '../kernel/ids'
import { PageQuery } from '../kernel/page'
import {
  JsonObject,
  namedObject,
  nullable,
  oneOf,
  pageOf,
  RequestId,
  type Static,
  Timestamp,
  t,
} from '../kernel/schema'
import { defineTable, type Row } from '../kernel/store'
import { ownedColumns, ownedIndexes } from '../resource'

export const TestCaseId = defineId('test case')
export type TestCaseId = Id<'test case'>

/** The checks of an answer. `value` is a text, a number, a mode or a JSON Schema. */
const CHECKS = [
  ...(['contains', 'not_contains', 'matches', 'json_schema', 'mode', 'max_ms', 'max_cost_cents'] as const),
] as const
const Check = t.Object({
  type: oneOf(CHECKS),
  value: t.Union([t.String({ maxLength: 4_096 }), t.Number(), JsonObject]),
})
export type Check = Static<typeof Check>

const Tag = t.String({ minLength: 1, maxLength: 64 })
const parts = {
  name: t.String({ minLength: 1, maxLength: 128, pattern: '\\S' }),
  tags: t.Array(Tag, { maxItems: 20 }),
  request: JsonObject,
  checks: t.Array(Check, { maxItems: 20 }),
}
const Request = t.Unsafe<Record<string, unknown>>({
  ...JsonObject,
  examples: [{ prompt: 'Count to five slowly' }],
  description: 'The body of POST /completions, or of POST /chat/completions with messages; at most 256 KiB',
})

/** Body of `POST /test-cases`. */
export const NewTestCase = namedObject('NewTestCase', {
  name: parts.name,
  tags: t.Optional(parts.tags),
  request: Request,
  checks: parts.checks,
})
export const TestCasePatch = t.Partial(t.Object({ ...parts, request: Request }), { $id: 'TestCasePatch' })
export const TestCase = namedObject('TestCase', {
  ...{ id: TestCaseId.schema, object: t.Literal('test_case'), ...parts },
  org_id: nullable(OrgId.schema),
  created: Timestamp,
  updated: Timestamp,
})
export type TestCase = Static<typeof TestCase>
export const TestCasePage = pageOf('test_cases', TestCase)
export const TestCaseQuery = t.Object({ ...PageQuery.properties })

/** Body of `POST /test-cases/run`. */
export const TestRunInput = namedObject(
  'TestRun',
  {
    ids: t.Optional(t.Array(TestCaseId.schema, { minItems: 1, maxItems: 100 })),
    tag: t.Optional(Tag),
    models: t.Array(t.String({ minLength: 1, maxLength: 64 }), {
      ...{ minItems: 1, maxItems: 4, uniqueItems: true },
      description: 'Engines of GET /models',
    }),
    most_cents: t.Number({ minimum: 0, maximum: 1_000_000, description: 'No answer begins once so much was charged' }),
  },
  { description: 'The cases named by `ids` or `tag`; all of them, at most 500, without either' },
)
export type TestRunInput = Static<typeof TestRunInput>
export const TestRunAccepted = t.Object({
  job_id: JobId.schema,
  status: t.Literal('queued'),
  cases: t.Integer(),
  poll_url: t.String({ description: 'The job; its result_data has `runs`' }),
})
export type TestRunAccepted = Static<typeof TestRunAccepted>

/** Body of `POST /requests/{id}/replay`. */
export const ReplayInput = namedObject('Replay', {
  model: t.Optional(t.String({ minLength: 1, maxLength: 64, description: 'Another engine of GET /models' })),
  mode: t.Optional(oneOf(MODES)),
  dry_run: t.Optional(t.Boolean({ description: 'Only say what it would cost at most' })),
})
export type ReplayInput = Static<typeof ReplayInput>
export const ReplayEstimate = t.Object({ estimate_cents: t.Number(), request_id: t.Optional(RequestId) })

/** One answer to a test case, as in the result of the job. */
export type TestRun = {
  case_id: string
  model: string
  passed: boolean
  /** The checks that failed, or the error code if there was no answer. */
  failed_checks: string[]
  ms: number
  cost_cents: number
  request_id: string
}

export const testCases = defineTable(
  'test_cases',
  (k) => ({
    ...ownedColumns<TestCaseId>(k),
    tags: k.json<string[]>('tags').notNull(),
    request: k.json<Record<string, unknown>>('request').notNull(),
    /** Size of the request in bytes. */
    bytes: k.int('bytes').notNull(),
    checks: k.json<Check[]>('checks').notNull(),
  }),
  (t, k) => ownedIndexes(k, 'test_cases', t),
)
export type TestCaseRow = Row<typeof testCases>

import { iso } from '../kernel/clock'
import { defineResource } from '../resource'
import { completionSettings } from './config'
import * as words from './test-cases-schema'

/** Requests with the checks that their answers must pass. */
export const testCase = defineResource({
  name: 'test_case',
  title: { one: 'test case', many: 'test cases' },
  path: '/test-cases',
  plural: 'test_cases',
  table: words.testCases,
  id: words.TestCaseId,
  words: {
    New: words.NewTestCase,
    Patch: words.TestCasePatch,
    View: words.TestCase,
    Query: words.TestCaseQuery,
    Page: words.TestCasePage,
  },
  summaries: {
    create: 'Save a request with checks of its answer',
    list: 'List test cases, newest first',
    get: 'Read one test case',
    update: 'Change a test case',
    remove: 'Delete a test case',
  },
  listed: { by: 'created_at', size: 'bytes' },
  owned: 'team',
  permission: 'manageSkills',
  holds: ['name', 'tags', 'request', 'checks'],
  max: completionSettings.maxTestCases,
  empty: { tags: [], checks: [] },
  present: (row: words.TestCaseRow): words.TestCase => ({
    ...{ id: row.id, object: 'test_case', name: row.name, tags: row.tags, request: row.request, checks: row.checks },
    ...{ org_id: row.org_id, created: iso(row.created_at), updated: iso(row.updated_at) },
  }),
})

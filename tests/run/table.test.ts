import { expect, test } from 'bun:test'
import { modulesTable } from './table'

test('a module has its files, counted once, and what they came to on every database', () => {
  const keys = { file: 'tests/accounts/keys/rotate.test.ts', passed: 12, failed: 0, seconds: 1.25 }
  const docs = { file: 'tests/docs.test.ts', passed: 3, failed: 1, seconds: 0.5 }
  expect(modulesTable([keys, docs, { ...keys, seconds: 3 }]).split('\n')).toEqual([
    'module        files  passed  failed  seconds',
    'accounts          1      24       0      4.3',
    'docs.test.ts      1       3       1      0.5',
    'all               2      27       1      4.8',
  ])
})

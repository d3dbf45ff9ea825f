import { expect, test } from 'bun:test'
import { userSettings } from '../../src/accounts/settings-table'
import { createLog, errorFields } from '../../src/kernel/log'
import { openTestStore } from '../support/store'

const store = await openTestStore()

test('a failed query is logged with what the database says, and without the values it was given', async () => {
  const lines: string[] = []
  const log = createLog({ level: 'error', pretty: false, write: (line) => lines.push(line) })
  const incomplete = { user_id: 'whispered', default_mode: null } as never
  const writing = store.write((tx) => tx.insert(tx.of(userSettings)).values(incomplete))
  const error = await writing.then(
    () => null,
    (thrown) => thrown,
  )
  log.error(errorFields(error), 'fault')
  log.error(errorFields(new Error('outer', { cause: error })), 'fault')
  expect(lines[0]).toMatch(/null/i)
  expect(lines[1]).toMatch(/outer.*null/i)
  expect(lines.join('')).not.toContain('whispered')
})

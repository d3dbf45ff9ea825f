import { expect, test } from 'bun:test'
import { userSettings } from '../../src/accounts/settings'
import { writePlain } from '../../src/http/metrics'
import { createLog, errorFields } from '../../src/kernel/log'
import { openTestStore } from '../support/store'

const store = await openTestStore()

test('a failed query is logged with what the database says, and without the values it was given', async () => {
  const lines: string[] = []
  const log = createLog({ level: 'error', pretty: false, write: (line) => lines.push(line) })
  const incomplete = { user_id: 'whispered', default_mode: null } as never
  const error = await store
    .write((tx) => tx.insert(tx.of(userSettings)).values(incomplete))
    .then(
      () => null,
      (thrown) => thrown,
    )
  log.error(errorFields(error), 'fault')
  log.error(errorFields(new Error('outer', { cause: error })), 'fault')
  expect(lines[0]).toMatch(/null/i)
  expect(lines[1]).toMatch(/outer.*null/i)
  expect(lines.join('')).not.toContain('whispered')
})

test('a plain line is the one that the log itself writes', () => {
  const lines: string[] = []
  const log = createLog({ level: 'info', pretty: false, write: (line) => lines.push(line) })
  const fields = { request_id: 'req_1', path: '/a"b\\c\u0001é東\ud83d', status: 200, ms: 0.1, code: null, first: true }
  log.info(fields, 'request')
  writePlain(log, 'info', fields, 'request')
  log.error(fields, 'request')
  writePlain(log, 'error', fields, 'request')
  const [info, plainInfo, error, plainError] = lines.map((line) => line.replace(/"time":"[^"]+"/, ''))
  expect(plainInfo!).toBe(info!)
  expect(plainError!).toBe(error!)
  log.level = 'error'
  writePlain(log, 'info', fields, 'request')
  expect(lines).toHaveLength(4)
})

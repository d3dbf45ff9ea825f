import { expect, test } from 'bun:test'
import { keySettings } from '../../../src/accounts'
import { resolveSettings } from '../../../src/kernel/config'

const read = (env: Record<string, string>) => resolveSettings(keySettings, env, {}).values

test('a person may have 100 keys and an organization 500, unless the server says otherwise', () => {
  expect(read({})).toEqual({ maxKeysPerPerson: 100, maxKeysPerOrg: 500 })
  expect(read({ SVC_MAX_KEYS_PER_PERSON: '7' })).toEqual({ maxKeysPerPerson: 7, maxKeysPerOrg: 500 })
  expect(read({ SVC_MAX_KEYS_PER_ORG: '9' })).toEqual({ maxKeysPerPerson: 100, maxKeysPerOrg: 9 })
})

test.each(['SVC_MAX_KEYS_PER_PERSON', 'SVC_MAX_KEYS_PER_ORG'])('%s is from one to a million', (name) => {
  for (const word of ['1', '1000000']) expect(() => read({ [name]: word })).not.toThrow()
  for (const word of ['0', '1000001', '1.5', 'many']) expect(() => read({ [name]: word })).toThrow(name)
})

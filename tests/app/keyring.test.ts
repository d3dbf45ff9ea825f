import { afterAll, expect, test } from 'bun:test'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../../src/app/config'
import { keyringStatus, rotateKeyring } from '../../src/app/keyring'
import { type OpenApp, openApp } from '../../src/app/open'
import { seedFirstRun } from '../../src/app/seed'
import { createLog } from '../../src/kernel/log'
import { createPostgresDatabase, postgresUrl } from '../support/store'
import { temporaryFolder } from '../support/temporary-folder'

const dataDir = temporaryFolder('svc-keyring-')
const database = postgresUrl ? await createPostgresDatabase(postgresUrl) : null
afterAll(() => database?.drop())
const log = createLog({ level: 'silent', pretty: false, write: () => undefined })
const config = loadConfig({ dataDir, configFile: fileWith({}), ...(database ? { databaseUrl: database.url } : {}) })
const secrets = join(dataDir, 'secrets.json')
const open = () => openApp({ config, log })

function fileWith(settings: object): string {
  const path = join(dataDir, 'svc.server.json')
  writeFileSync(path, JSON.stringify(settings))
  return path
}

async function call({ api }: OpenApp, key: string, path: string, body?: object, headers: Record<string, string> = {}) {
  const answer = await api.handle(
    new Request(`http://localhost/api/v1/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  )
  return { replayed: answer.headers.get('x-idempotent-replay'), text: await answer.text() }
}

const HOOK = { url: 'listen:', event_types: ['*'] }
const STORED = { 'idempotency-key': 'order-1182' }
let key = ''
let answer = ''

test('a new master key opens what the old one protected, and the old one nothing any more', async () => {
  const app = await open()
  key = (await seedFirstRun(app.container, dataDir))!.key
  answer = (await call(app, key, 'webhooks', HOOK, STORED)).text
  await expect(rotateKeyring(config, null)).rejects.toThrow('is using')
  await app.close()
  const before = readFileSync(secrets, 'utf8')
  expect(await keyringStatus(config)).toMatchObject({ version: 1, fits: true, webhooks: { sealed: 1, unreadable: 0 } })

  const rotated = await rotateKeyring(config, null)
  expect(rotated).toMatchObject({ version: 2, webhooks: { sealed: 1, unreadable: 0 }, answers: { sealed: 1 } })
  expect(readFileSync(rotated.old, 'utf8')).toEqual(before)
  expect(statSync(rotated.old).mode & 0o777).toBe(0o600)
  expect(JSON.parse(readFileSync(secrets, 'utf8')).master_key).not.toBe(JSON.parse(before).master_key)
  expect(await keyringStatus(config)).toMatchObject({ version: 2, fits: true, answers: { sealed: 1, unreadable: 0 } })

  const again = await open()
  const replay = await call(again, key, 'webhooks', HOOK, STORED)
  expect({ replayed: replay.replayed, text: replay.text }).toEqual({ replayed: 'true', text: answer })
  await again.close()
})

test('a crash before or after the commit leaves one key that fits', async () => {
  const settled = readFileSync(secrets, 'utf8')
  const other = Buffer.alloc(32, 7).toString('base64')
  // Before the commit: the database knows nothing of the next key.
  writeFileSync(secrets, JSON.stringify({ ...JSON.parse(settled), next_master_key: other }))
  const app = await open()
  expect((await call(app, key, 'webhooks', HOOK, STORED)).replayed).toBe('true')
  await app.close()
  expect(JSON.parse(readFileSync(secrets, 'utf8'))).toEqual(JSON.parse(settled))
  // After it: the database was encrypted with the next one, and the file still has both.
  const { old } = await rotateKeyring(config, Buffer.from(other, 'base64'))
  const ended = JSON.parse(readFileSync(secrets, 'utf8'))
  writeFileSync(secrets, JSON.stringify({ ...JSON.parse(settled), next_master_key: other }))
  rmSync(old)
  const next = await open()
  expect((await call(next, key, 'webhooks', HOOK, STORED)).replayed).toBe('true')
  await next.close()
  expect(JSON.parse(readFileSync(secrets, 'utf8'))).toEqual(ended)
  expect(existsSync(old)).toBe(true)
})

test('nothing changes where a secret cannot be opened', async () => {
  const before = readFileSync(secrets, 'utf8')
  writeFileSync(secrets, JSON.stringify({ ...JSON.parse(before), master_key: Buffer.alloc(32, 9).toString('base64') }))
  await expect(rotateKeyring(config, null)).rejects.toThrow('not the file that the database was encrypted with')
  expect(await keyringStatus(config)).toMatchObject({ fits: false, webhooks: { sealed: 1, unreadable: 1 } })
  writeFileSync(secrets, before)
})

test('the data folder of a Postgres node alone is not enough, and what to give is said', async () => {
  const alone = loadConfig({ dataDir: join(dataDir, 'node'), configFile: fileWith({}), databaseUrl: '' })
  for (const work of [keyringStatus(alone), rotateKeyring(alone, null)])
    await expect(work).rejects.toThrow('If the server uses Postgres, run this with its SVC_DATABASE_URL')
})

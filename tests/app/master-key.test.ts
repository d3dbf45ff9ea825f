import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../../src/app/config'
import { keyringStatus, rewrapSecrets, rotateKeyring } from '../../src/app/keyring'
import { type OpenOptions, openApp } from '../../src/app/open'
import { secretsOf } from '../../src/cluster'
import { createLog } from '../../src/kernel/log'
import { eventually } from '../support/eventually'
import { devKeyOf, startServerProcess } from '../support/server-process'
import { createPostgresDatabase, postgresUrl } from '../support/store'
import { temporaryFolder } from '../support/temporary-folder'

if (!postgresUrl) process.stdout.write('NOT RUN: nodes with a master key, because SVC_TEST_POSTGRES_URL is not set.\n')

const [ONE, TWO, THREE] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte).toString('base64')) as [string, string, string]
const root = temporaryFolder('svc-master-key-')
const log = createLog({ level: 'silent', pretty: false, write: () => undefined })
let folders = 0

function folder(): string {
  const dataDir = join(root, `data-${++folders}`)
  mkdirSync(dataDir, { mode: 0o700 })
  return dataDir
}

/** Nodes of one database: on SQLite they take turns on one folder, on Postgres each has its own. */
async function database(dialect: string) {
  const shared = dialect === 'postgres' ? await createPostgresDatabase(postgresUrl!) : null
  if (shared) afterAll(shared.drop)
  const only = folder()
  const place = () => (shared ? folder() : only)
  const options = (masterKey: string, dataDir = place()): OpenOptions => ({
    config: loadConfig({ dataDir, port: 0, production: false, masterKey, ...(shared && { databaseUrl: shared.url }) }),
    log,
  })
  return { options, place, url: shared?.url }
}

async function fingerprintWith(options: OpenOptions): Promise<string> {
  const app = await openApp(options)
  try {
    return (await secretsOf(app.store.read))!.fingerprint
  } finally {
    await app.close()
  }
}

for (const dialect of postgresUrl ? ['sqlite', 'postgres'] : ['sqlite']) {
  describe(`a master key, on ${dialect}`, () => {
    test('keeps the secrets in the database, and a node with another key is refused', async () => {
      const { options } = await database(dialect)
      const first = options(ONE)
      const made = await fingerprintWith(first)
      expect(existsSync(join(first.config.dataDir, 'secrets.json'))).toBe(false)
      expect(await fingerprintWith(options(ONE))).toBe(made)
      expect(await keyringStatus(first.config)).toMatchObject({ file: null, fits: true, version: 1 })
      await expect(openApp(options(TWO))).rejects.toThrow('Set SVC_MASTER_KEY or SVC_MASTER_KEY_FILE as on the other')
      await expect(openApp(options(''))).rejects.toThrow('and this node has none')
      await expect(openApp(options('short'))).rejects.toThrow('openssl rand -base64 32')
      expect(await fingerprintWith(options(`${TWO},${ONE}`))).toBe(made)
    })

    test('takes over secrets.json, whose nodes go on without a key', async () => {
      const { options, place } = await database(dialect)
      const dataDir = place()
      const before = await fingerprintWith(options('', dataDir))
      expect(await fingerprintWith(options(ONE, dataDir))).toBe(before)
      expect(await fingerprintWith(options('', dataDir))).toBe(before)
      rmSync(join(dataDir, 'secrets.json'))
      expect(await fingerprintWith(options(ONE, dataDir))).toBe(before)
    })

    test('that is lost is replaced where secrets.json is kept; else what it wrapped is given up', async () => {
      const { options, place } = await database(dialect)
      const dataDir = place()
      const before = await fingerprintWith(options('', dataDir))
      await fingerprintWith(options(ONE, dataDir))
      await expect(openApp(options(TWO, dataDir))).rejects.toThrow('keyring rotate --from-file')
      await rewrapSecrets(options('', dataDir).config, Buffer.from(TWO, 'base64'))
      expect(await fingerprintWith(options(TWO, dataDir))).toBe(before)
      rmSync(join(dataDir, 'secrets.json'))
      const after = await fingerprintWith({ ...options(THREE, dataDir), newSecrets: true })
      expect(after).not.toBe(before)
      expect(await fingerprintWith(options(THREE))).toBe(after)
    })

    test('is replaced by the first of several', async () => {
      const { options } = await database(dialect)
      const app = await openApp(options(ONE))
      const made = (await secretsOf(app.store.read))!.fingerprint
      await expect(rewrapSecrets(options(ONE).config, null)).rejects.toThrow('wraps the secrets already')
      await expect(rewrapSecrets(options(TWO).config, null)).rejects.toThrow('are wrapped by master key')
      const done = await rewrapSecrets(options(`${TWO},${ONE}`).config, null)
      expect(done.wrapped_by).not.toBe(done.old)
      await app.close()
      expect(await fingerprintWith(options(TWO))).toBe(made)
      await expect(openApp(options(ONE))).rejects.toThrow(`wrapped by master key ${done.wrapped_by}`)
    })
  })
}

test('a file with the key is private, and not set beside the variable', async () => {
  const file = join(root, 'master.key')
  const config = loadConfig({ dataDir: folder(), port: 0, masterKeyFile: file })
  await expect(openApp({ config, log })).rejects.toThrow('SVC_MASTER_KEY_FILE cannot be read')
  writeFileSync(file, '', { mode: 0o644 })
  await expect(openApp({ config, log })).rejects.toThrow('can be read by other users')
  rmSync(file)
  writeFileSync(file, '', { mode: 0o440 })
  await expect(openApp({ config, log })).rejects.toThrow('is empty')
  await expect(openApp({ config: { ...config, masterKey: ONE }, log })).rejects.toThrow('are both set')
})

describe.skipIf(!postgresUrl)('nodes with a master key', () => {
  test('that start first at once use the same secrets, and with other keys one of them serves', async () => {
    const { options } = await database('postgres')
    const apps = await Promise.all([ONE, ONE, ONE].map((key) => openApp(options(key))))
    const made = await Promise.all(apps.map((app) => secretsOf(app.store.read)))
    await Promise.all(apps.map((app) => app.close()))
    expect(new Set(made.map((one) => one!.wrapped)).size).toBe(1)

    const other = await database('postgres')
    const starts = await Promise.allSettled([ONE, TWO].map((key) => openApp(other.options(key))))
    for (const start of starts) if (start.status === 'fulfilled') await start.value.close()
    expect(starts.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  test('answer every request while it is replaced', async () => {
    const { url, place } = await database('postgres')
    const file = join(root, 'shared.key')
    writeFileSync(file, ONE, { mode: 0o600 })
    const env = { SVC_DATABASE_URL: url!, SVC_MASTER_KEY_FILE: file, SVC_MAX_ACTIVE_WEBHOOKS: '1000' }
    const [home, away] = [place(), place()]
    const nodes = [await startServerProcess({ dataDir: home, env }), await startServerProcess({ dataDir: away, env })]
    const headers = { authorization: `Bearer ${devKeyOf(home)}`, 'content-type': 'application/json' }
    const failed: string[] = []
    let [answered, isOver] = [0, false]
    const ask = async (at: number) => {
      for (let n = 0; !isOver; n++) {
        const name = { ...headers, 'idempotency-key': `load-${at}-${n >> 1}` }
        const body = JSON.stringify({ url: 'listen:', event_types: ['*'] })
        const answer = await fetch(`${nodes[n % 2]!.url}/api/v1/webhooks`, { method: 'POST', headers: name, body })
        // Each is sent to both nodes: the second replays what the first sealed.
        if (!answer.ok) failed.push(`${answer.status} ${await answer.text()}`)
        answered += 1
      }
    }
    const load = [0, 1].map(ask)
    try {
      writeFileSync(file, `${TWO}\n${ONE}\n`)
      const done = await rewrapSecrets(loadConfig({ dataDir: home, databaseUrl: url!, masterKeyFile: file }), null)
      writeFileSync(file, `${TWO}\n`)
      expect(done).toMatchObject({ fits: true, webhooks: { unreadable: 0 } })
      const replaced = answered
      await eventually(
        () => Promise.resolve(answered),
        (count) => count > replaced + 20,
        30_000,
      )
      isOver = true
      await Promise.all(load)
      await nodes[1]!.kill()
      nodes[1] = await startServerProcess({ dataDir: away, env })
      isOver = false
      const before = answered
      const more = [2, 3].map(ask)
      await eventually(
        () => Promise.resolve(answered),
        (count) => count > before + 20,
        30_000,
      )
      isOver = true
      await Promise.all(more)
      expect(failed).toEqual([])
    } finally {
      isOver = true
      for (const node of nodes) await node.kill()
    }
    expect(readFileSync(file, 'utf8')).not.toContain(ONE)
  }, 60_000)

  test('rotate of the file is for nodes without one', async () => {
    const { options } = await database('postgres')
    await fingerprintWith(options(ONE))
    await expect(rotateKeyring(options(ONE).config, null)).rejects.toThrow('There is no')
  })
})

import { afterAll, describe, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../../src/app/config'
import { type OpenOptions, openApp } from '../../src/app/open'
import { loadSecrets } from '../../src/app/secrets'
import { hasKeys, seedFirstRun } from '../../src/app/seed'
import { start } from '../../src/app/start'
import { createLog } from '../../src/kernel/log'
import { skills } from '../../src/skills/table'
import { createPostgresDatabase, postgresUrl } from '../support/store'
import { temporaryFolder } from '../support/temporary-folder'

if (!postgresUrl)
  process.stdout.write('NOT RUN: nodes that start together, because SVC_TEST_POSTGRES_URL is not set.\n')

const root = temporaryFolder('svc-nodes-')
const log = createLog({ level: 'silent', pretty: false, write: () => undefined })
let folders = 0

async function emptyDatabase() {
  const { url, drop } = await createPostgresDatabase(postgresUrl!)
  afterAll(drop)
  const folder = () => {
    const dataDir = join(root, `data-${++folders}`)
    mkdirSync(dataDir, { mode: 0o700 })
    return dataDir
  }
  const options = (dataDir: string): OpenOptions => ({
    config: loadConfig({ dataDir, databaseUrl: url, port: 0, production: false }),
    log,
  })
  return { folder, options }
}

describe.skipIf(!postgresUrl)('nodes on an empty Postgres database', () => {
  test('ten that start at once all serve, and what a first start makes is there once', async () => {
    const { folder, options } = await emptyDatabase()
    const first = folder()
    const { path } = loadSecrets(first)
    const others = Array.from({ length: 9 }, folder)
    for (const dataDir of others) copyFileSync(path, join(dataDir, 'secrets.json'))
    const nodes = await Promise.all([first, ...others].map((dataDir) => start(options(dataDir))))
    try {
      expect(nodes.filter(({ seed }) => seed !== null)).toHaveLength(1)
      expect(nodes.filter(({ app }) => app.findings.newDatabase)).toHaveLength(1)
      const { store } = nodes[0]!.app.container
      const slugs = (await store.read.select({ slug: store.read.of(skills).slug }).from(store.read.of(skills))).map(
        ({ slug }) => slug,
      )
      expect(slugs.length).toBeGreaterThan(0)
      expect(new Set(slugs).size).toBe(slugs.length)
      for (const { url } of nodes) expect((await fetch(`${url}/api/v1/health`)).status).toBe(200)
    } finally {
      await Promise.all(nodes.map((node) => node.stop()))
    }
  })

  test('share their secrets: others are refused, with the file to share', async () => {
    const { folder, options } = await emptyDatabase()
    const [home, strange, empty] = [folder(), folder(), folder()]
    const node = await openApp(options(home))
    await seedFirstRun(node.container, home)
    loadSecrets(strange)
    const refusal = `${join(strange, 'secrets.json')} is not the file that the database was encrypted with`
    await expect(openApp(options(strange))).rejects.toThrow(refusal)
    await expect(openApp(options(strange))).rejects.toThrow('copy secrets.json from the data folder of another node')
    await expect(openApp(options(empty))).rejects.toThrow(`${join(empty, 'secrets.json')} is missing`)
    await expect(openApp({ ...options(empty), newSecrets: true })).rejects.toThrow('Other nodes use this database')
    expect(existsSync(join(empty, 'secrets.json'))).toBe(false)
    await (await openApp({ ...options(strange), serving: false })).close()

    copyFileSync(join(home, 'secrets.json'), join(empty, 'secrets.json'))
    const second = await openApp(options(empty))
    expect(await hasKeys(second.container)).toBe(true)
    await second.close()
    await node.close()

    await (await openApp({ ...options(strange), newSecrets: true })).close()
    await expect(openApp(options(home))).rejects.toThrow('is not the file that the database was encrypted with')
    await (await openApp(options(strange))).close()
  })
})

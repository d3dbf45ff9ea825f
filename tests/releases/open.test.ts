// Each release so far left a data folder and a dump of Postgres (`make.ts`); this release opens them and finds
// everything.
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cleanEnv, startServerProcess } from '../support/server-process'
import { createPostgresDatabase, postgresUrl } from '../support/store'
import { clientOf, lostIn } from './client'
import { type Made, run } from './make'

const FIXTURES = join(import.meta.dir, 'fixtures')
const DIALECT = postgresUrl ? 'postgres' : 'sqlite'
/** The key that is the token of a session, which ends. */
const SESSION = 'ada'
const LATER_MS = 3_600_000
const PATIENCE_MS = 120_000
/** Kept for a time, asked by the day, or closed after days. On Postgres the clock cannot be set back. */
const BY_THE_CLOCK =
  /^\/(jobs|events|usage|workflows\/.*\/runs|hooks\/.*\/executions|webhooks\/.*\/(deliveries|stats))|analytics|earnings|^\/iframes\/.*\/conversations/
const names = readdirSync(FIXTURES)
  .filter((name) => name.endsWith(`.${DIALECT}.tgz`))
  .sort()

test('there is a fixture of the first release whose data lasts', () => {
  expect(names[0]).toBe(`20261124-904285a8.${DIALECT}.tgz`)
})

describe.each(names)('the data of %s', (name) => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-release-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test(
    'opens, and everything is found with the old keys',
    async () => {
      run(folder, ['tar', '-xzf', join(FIXTURES, name)])
      const made = JSON.parse(readFileSync(join(folder, 'made.json'), 'utf8')) as Made
      const dataDir = join(folder, 'data')
      const env: Record<string, string> = { SVC_DATA_DIR: dataDir }
      if (postgresUrl) {
        const { url, drop } = await createPostgresDatabase(postgresUrl)
        afterAll(drop)
        run(folder, ['pg_restore', '--no-owner', '--dbname', url, 'svc.dump'])
        env.SVC_DATABASE_URL = url
      }
      const before = await admin(env, 'migrate', 'status', '--json')
      expect(before.code).toBe(0)
      const { applied, known, pending } = JSON.parse(before.stdout)
      expect(pending).toHaveLength(known - applied)
      expect((await admin(env, 'migrate', 'plan')).stdout.match(/^-- \d{4}_/gm) ?? []).toHaveLength(known - applied)

      // What is kept for a month is looked at an hour after it was made.
      const preload = ['--preload', join(import.meta.dir, 'clock.ts')]
      const command = [process.execPath, ...(postgresUrl ? [] : preload), 'src/main.ts']
      const shift = String(made.at + LATER_MS - Date.now())
      const server = await startServerProcess({ dataDir, command, env: { ...env, SVC_TEST_CLOCK_MS: shift } })
      try {
        const client = clientOf(server.url, dataDir)
        expect(await client.ops('POST', '/verify')).toMatchObject({ ok: true })
        const lost: string[] = []
        let compared = 0
        for (const [name, answers] of Object.entries(made.answers)) {
          if (postgresUrl && name === SESSION) continue
          for (const [path, answer] of Object.entries(answers)) {
            if (postgresUrl && BY_THE_CLOCK.test(path)) continue
            compared += 1
            lost.push(...lostIn(answer, (await client.call('GET', path, made.keys[name]!)).body, `${name} ${path}`))
          }
        }
        expect(lost).toEqual([])
        expect(compared).toBeGreaterThan(50)
        const request = await client.call('POST', '/completions', made.keys.dev!, {
          prompt: 'What is 3 times 3?',
          mode: 'fast',
        })
        expect(request.status).toBe(200)
        expect(await client.ops('POST', '/verify')).toMatchObject({ ok: true })
        expect(await server.stop()).toBe(0)
      } finally {
        await server.kill()
      }
      expect(JSON.parse((await admin(env, 'migrate', 'status', '--json')).stdout)).toMatchObject({
        applied: known,
        pending: [],
      })
      expect((await admin(env, 'migrate', 'verify')).code).toBe(0)
    },
    PATIENCE_MS,
  )
})

async function admin(env: Record<string, string>, ...words: string[]): Promise<{ code: number; stdout: string }> {
  const child = Bun.spawn([process.execPath, 'cli/main.ts', ...words], {
    env: cleanEnv(env),
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const stdout = await new Response(child.stdout).text()
  return { code: await child.exited, stdout }
}

// SQLite only: a client of routes that tests of their modules call on both.
import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cliOver } from '../support/cli'
import { temporaryFolder } from '../support/temporary-folder'
import { createWorld } from '../support/world'

const folder = temporaryFolder('svc-secrets-')
const configFile = join(folder, 'svc.server.json')
writeFileSync(configFile, '{}')
writeFileSync(join(folder, 'upstream-key'), 'canary-upstream-key\n')

const world = await createWorld({ config: { configFile } })
const run = cliOver(world)
const ada = await world.person({ ofOrg: true })
const made = JSON.parse((await run(`keys create --org ${ada.orgId} --name planted --json`)).stdout)

/** Everything an operator may run, as loud as it gets. */
const LINES = [
  ['status'],
  ['keys', 'list', '--revoked', '--all'],
  ['keys', 'get', made.id],
  ['keys', 'update', made.id, '--tier', 'pro'],
  ['credits', 'balance', ada.orgId!],
  ['credits', 'grant', ada.orgId!, '1.00', '--reason', 'x'],
  `engines add main --base-url http://127.0.0.1:9/v1 --from-file ${join(folder, 'upstream-key')} --no-test`.split(' '),
  ['engines', 'list'],
  ['engines', 'test'],
  ['backup', 'create', '--out', join(folder, 'backup')],
  ['verify'],
  ['config', 'list', '--config', configFile],
  ['commands'],
  ['keys', 'revoke', made.id, '-y', '--reason', 'x'],
]

// Before an upstream at which nobody listens is connected.
test('calls with a key print it neither in debug lines nor in the curl they show', async () => {
  for (const line of [
    ['try', 'hello'],
    ['try', 'hello', '--stream'],
    ['keys', 'list'],
  ]) {
    const { exitCode, stdout, stderr } = await run([...line, '--debug', '-v'], { key: ada.key })
    expect(exitCode).toBe(0)
    expect(stdout + stderr).not.toContain(ada.key)
  }
})

test.each(LINES.map((line) => [line.slice(0, 2).join(' '), line] as const))(
  '%s --debug prints no secret',
  async (_name, line) => {
    for (const format of ['table', 'json']) {
      const { stdout, stderr } = await run([...line, '--debug', '-v', '-o', format])
      for (const secret of [made.key, ada.key, 'canary-upstream-key']) {
        expect(stdout).not.toContain(secret)
        expect(stderr).not.toContain(secret)
      }
    }
  },
)

test('neither the log nor the record ever held one', async () => {
  const { audit, store } = world.app.container
  const scopes = [`org:${ada.orgId}`, 'server'] as const
  const pages = await Promise.all(
    scopes.map((scope) => audit.list(store.read, scope as `org:${string}`, { limit: 100 })),
  )
  const stored = JSON.stringify(pages) + world.logged.join('')
  for (const secret of [made.key, ada.key, 'canary-upstream-key']) expect(stored).not.toContain(secret)
})

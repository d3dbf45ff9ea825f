import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { eventually } from '../support/eventually'
import { spawnServer } from '../support/server-process'
import { temporaryFolder } from '../support/temporary-folder'

const root = temporaryFolder('svc-json-log-')

test('with --log-format json the start is told on stderr, so that stdout holds JSON lines only', async () => {
  const [out, err] = [join(root, 'out'), join(root, 'err')]
  const line = `exec "${process.execPath}" src/main.ts > "${out}" 2> "${err}"`
  const env = { SVC_LOG_FORMAT: 'json', SVC_LOG_LEVEL: 'info' }
  const server = await spawnServer({ dataDir: join(root, 'data'), env, command: ['sh', '-c', line] })
  const textOf = async () =>
    Bun.file(err)
      .text()
      .catch(() => '')
  await eventually(async () => (await textOf()).includes('Ready in'))
  await fetch(`${server.url}/api/v1/health`)
  expect(await server.stop()).toBe(0)
  const lines = (await Bun.file(out).text()).trim().split('\n').filter(Boolean)
  expect(lines.length).toBeGreaterThan(0)
  for (const one of lines) expect(JSON.parse(one)).toBeObject()
}, 60_000)

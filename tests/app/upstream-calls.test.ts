import { expect, test } from 'bun:test'
import { join } from 'node:path'
import packageFile from '../../package.json'

const ROOT = join(import.meta.dir, '../..')
const CALLS = 300

/** How many calls of a process are under way at once: the server answers none before all have come. */
const PROGRAM = `
  let open = 0
  const { promise, resolve } = Promise.withResolvers()
  setTimeout(resolve, 15_000)
  const fetched = async () => {
    if (++open === ${CALLS}) resolve()
    await promise
    return new Response()
  }
  const { port } = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: fetched })
  void Promise.all(Array.from({ length: ${CALLS} }, () => fetch('http://127.0.0.1:' + port)))
  await promise
  process.stdout.write(String(open))
  process.exit(0)
`

test('more engine calls run at once than the runtime allows by itself, in both ways of starting', async () => {
  const setting = /BUN_CONFIG_MAX_HTTP_REQUESTS=\S*?(\d+)/.exec(packageFile.scripts.start)![1]!
  const script = await Bun.file(join(ROOT, 'svc-admin')).text()
  expect(script).toContain(`BUN_CONFIG_MAX_HTTP_REQUESTS="\${BUN_CONFIG_MAX_HTTP_REQUESTS:-${setting}}"`)
  const env = { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: setting }
  const child = Bun.spawn([process.execPath, '-e', PROGRAM], { env, stdout: 'pipe' })
  expect(await new Response(child.stdout).text()).toBe(String(CALLS))
}, 20_000)

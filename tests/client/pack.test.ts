// SQLite only: what is packed is the client, which knows no database.
import { expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { listen } from '../support/listening'
import { isLong } from '../support/long'
import { temporaryFolder } from '../support/temporary-folder'
import { createWorld } from '../support/world'

const ROOT = join(import.meta.dir, '../..')
const node = Bun.which('node')
if (!isLong) process.stdout.write('NOT RUN: the packed client in a project of Node, which test:long tries.\n')
else if (!node)
  process.stdout.write('NOT RUN: the packed client in a project of Node, because node is not installed.\n')

const folder = temporaryFolder('svc-pack-')

async function run(command: string[], env: Record<string, string> = {}): Promise<string> {
  const child = Bun.spawn(command, { cwd: folder, env: { ...process.env, ...env }, stdout: 'pipe', stderr: 'pipe' })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  expect({ exit: await child.exited, err }).toEqual({ exit: 0, err: expect.anything() })
  return out.trim()
}

const PROGRAM = `
import { createSvc, SvcError, verifyWebhook } from 'svc/client'
const svc = createSvc()
const { content } = await svc.complete({ prompt: 'What is 6 times 7?', mode: 'fast' })
const events = []
for await (const { event } of svc.stream({ prompt: 'What is 6 times 7?' })) events.push(event)
const refused = await svc.jobs.get('nothing').catch((error) => error)
console.log(JSON.stringify([content, events.at(-1), refused instanceof SvcError, refused.code, typeof verifyWebhook]))
`

const TYPED = `
import { createSvc } from 'svc/client'
const svc = createSvc()
const answer = await svc.complete({ prompt: 'a', mode: 'fast' })
const [content, link]: [string, string | null] = [answer.content, (await svc.document({ prompt: 'x' })).download_url]
for (const { id } of (await svc.jobs.list({ status: 'queued' })).jobs) console.log(id.length, content, link)
// @ts-expect-error no such member
console.log(answer.nothing)
`

test.skipIf(!isLong || !node)(
  'the packed client works in a project of Node, with types that need no server',
  async () => {
    const packed = await run([process.execPath, join(ROOT, 'client/pack.ts'), folder])
    mkdirSync(join(folder, 'node_modules/svc'), { recursive: true })
    await run(['tar', '-xzf', packed, '-C', join(folder, 'node_modules/svc'), '--strip-components', '1'])
    writeFileSync(join(folder, 'program.mjs'), PROGRAM)
    writeFileSync(join(folder, 'typed.mts'), TYPED)
    const world = await createWorld()
    const { origin } = listen(world)
    const { key } = await world.person({ cents: 100 })
    const text = await run([node!, 'program.mjs'], { SVC_BASE_URL: origin, SVC_API_KEY: key })
    expect(JSON.parse(text)).toEqual(['6 times 7 = 42', 'done', true, 'not_found', 'function'])
    const tsc = [join(ROOT, 'node_modules/.bin/tsc'), '--noEmit', '--strict', '--ignoreConfig', '--target', 'esnext']
    await run([...tsc, '--module', 'nodenext', '--types', '', 'typed.mts'])
  },
)

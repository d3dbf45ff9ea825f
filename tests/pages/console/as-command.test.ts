import { expect, test } from 'bun:test'
import { parse } from '../../../cli/parse'
import { allCommands } from '../../../cli/registry'
import { commandOf, FILE_NOUNS, shellWord } from '../../../src/pages/browser/console/shell/command'
import { cliOver } from '../../support/cli'
import { fakeIo } from '../../support/io'
import { inChromium } from '../support/chromium'
import { createConsole, press, write, wrongIn } from './support/console'

const NAME = `It's "5 $HOME" \`id\` \\n !! %s`

/** What a shell makes of a pasted text: the words of `curl` or `svc-admin`, and its stdin. */
async function pasted(text: string): Promise<{ words: string[]; stdin: string }> {
  const shown = (from: string) => `{ for word in "$@"; do printf '%s\\0' "$word"; done; ${from}; }`
  const script = `curl() ${shown(':')}\nsvcadmin() ${shown('cat')}\n${text.replace('svc-admin', 'svcadmin')}`
  const words = (await new Response(Bun.spawn(['sh', '-c', script]).stdout).text()).split('\0')
  return { stdin: words.pop()!, words }
}

test('every noun that is created from a file of the API can be shown as a command', async () => {
  const commands = await allCommands()
  const filed = (verb: string) =>
    commands.flatMap(({ path, flags }) => (path.endsWith(` ${verb}`) && flags.file ? [path.split(' ')[0]!] : [])).sort()
  expect(filed('create')).toEqual(Object.values(FILE_NOUNS).sort())
  for (const noun of Object.values(FILE_NOUNS)) expect(filed('update')).toContain(noun)
})

test('the commands that pages name exist', async () => {
  const commands = await allCommands()
  const folder = `${import.meta.dir}/../../../src/pages/browser/console`
  const named: string[] = []
  for await (const file of new Bun.Glob('**/*.tsx').scan(folder))
    for (const [, line] of (await Bun.file(`${folder}/${file}`).text()).matchAll(/['"]svc-admin ([^'"]+)/g))
      named.push(line!)
  expect(named.length).toBeGreaterThan(15)
  for (const line of named)
    expect({ line, type: parse(line.split(' '), commands, {}).type }).toEqual({ line, type: 'run' })
})

test('what a shell reads of a command is the body, and other calls have no command', async () => {
  const body = { name: NAME, text: 'two\nlines\ttab', empty: '', more: [1, null, { 'a b': "''" }] }
  const command = commandOf('PATCH', '/evi/canvases/x-1', 'user:1')
  const { words, stdin } = await pasted(`printf %s ${shellWord(body)} | ${command}`)
  expect(words).toEqual(['canvases', 'update', 'x-1', '-f', '-'])
  expect(JSON.parse(stdin)).toEqual(body)
  for (const [method, path] of [
    ['POST', '/keys'],
    ['POST', '/test-cases/run'],
    ['PATCH', '/settings'],
    ['PUT', '/workflows/x'],
  ] as const)
    expect(commandOf(method, path, 'user:1')).toBeNull()
})

inChromium('forms as commands', async () => {
  const { open, person, world } = await createConsole()
  const sent: { method: string; path: string; body: unknown }[] = []
  const { ops } = world.app
  const handle = async (request: Request) => {
    if (request.method !== 'GET') {
      const { pathname, searchParams } = new URL(request.url)
      const path = `${pathname.replace(/^.*\/v1/, '')} ${searchParams.get('owner')}`
      sent.push({ method: request.method, path, body: await request.clone().json() })
    }
    return ops.handle(request)
  }
  const run = cliOver({ ...world, app: { ...world.app, ops: { ...ops, handle } as typeof ops } })

  test.each([
    ['/me/workflows/new', '/workflows'],
    ['/me/workflows/new?tab=canvases', '/evi/canvases'],
    ['/me/guardrails/new', '/guardrail-policies'],
    ['/me/routing/new', '/routing-preferences'],
    ['/me/widgets/new', '/iframes'],
  ])('%s sends the same as a command', async (address, path) => {
    // The commands' default owner is the oldest account, so that of the page must be named.
    const { page, problems } = await open(address)
    await write(page, 'Name', NAME)
    const shown = async (kind: string) => {
      await press(page, `As ${kind}`)
      const code = await page.waitForSelector(`form [aria-label="${kind}"] code`)
      return pasted(await code!.evaluate((it) => it.textContent ?? ''))
    }
    const body = JSON.parse((await shown('request')).words.at(-1)!)
    const { words, stdin } = await shown('command')
    expect(body.name).toBe(NAME)
    sent.length = 0
    await run(words, { io: fakeIo({ stdin }) })
    expect(sent).toEqual([{ method: 'POST', path: `${path} user:${person.userId}`, body }])
    expect(await wrongIn(page, 'as-command')).toEqual([])
    expect(problems).toEqual([])
  })
})

import { expect, test } from 'bun:test'
import { parse } from '../../../cli/parse'
import { allCommands } from '../../../cli/registry'
import { commandOf, FILE_NOUNS, FLAG_NOUNS } from '../../../src/pages/browser/console/shell/command'
import { operatorSender } from '../../operators/support'
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

test('every member that a command has a flag for has one', async () => {
  const commands = await allCommands()
  for (const { create, update, members } of Object.values(FLAG_NOUNS)) {
    const flagsOf = (path?: string) => Object.keys(commands.find((it) => it.path === path)?.flags ?? {})
    const spelled = Object.values(members).flatMap((it) => (it === null ? [] : typeof it === 'string' ? [it] : [it[0]]))
    const keys = spelled.map((flag) => flag.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase()))
    expect(flagsOf(create)).toEqual(expect.arrayContaining(keys))
    if (update) expect(flagsOf(update).filter((flag) => keys.includes(flag)).length).toBeGreaterThan(0)
  }
})

test('what a shell reads of a command is the body, and other calls have no command', async () => {
  const body = { name: NAME, text: 'two\nlines\ttab', empty: '', more: [1, null, { 'a b': "''" }] }
  const { words, stdin } = await pasted(commandOf('PATCH', '/evi/canvases/x-1', 'user:1', body)!)
  expect(words).toEqual(['canvases', 'update', 'x-1', '-f', '-'])
  expect(JSON.parse(stdin)).toEqual(body)
  const change = { name: NAME, monthly_cap_cents: null, daily_cap_cents: 250, allowed_origins: [] }
  expect((await pasted(commandOf('PATCH', '/keys/k-1', 'user:1', change)!)).words).toEqual([
    'keys',
    'update',
    'k-1',
    '--name',
    NAME,
    '--monthly-cap',
    'none',
    '--daily-cap',
    '250c',
    '--origin',
    'none',
  ])
  for (const [method, path, given] of [
    ['PATCH', '/keys/x', { brand_soul: {} }],
    ['POST', '/test-cases/run', {}],
    ['PATCH', '/settings', {}],
    ['PUT', '/workflows/x', {}],
  ] as const)
    expect(commandOf(method, path, 'user:1', given)).toBeNull()
})

/** What a command says of a body: it leaves out what the server takes anyway. */
const withoutDefaults = (body: object) =>
  Object.fromEntries(Object.entries(body).filter(([, it]) => it && !(Array.isArray(it) && it.length === 0)))

inChromium('forms as commands', async () => {
  const { open, person, world } = await createConsole()
  await operatorSender(world)('PATCH', `users/${person.userId}`, { operator_role: 'admin' })
  const sent: { method: string; path: string; body: object }[] = []
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

  type Case = [address: string, path: string, written?: Record<string, string>]
  test.each<Case>([
    ['/me/workflows/new', '/workflows'],
    ['/me/workflows/new?tab=canvases', '/evi/canvases'],
    ['/me/guardrails/new', '/guardrail-policies'],
    ['/me/routing/new', '/routing-preferences'],
    ['/me/widgets/new', '/iframes'],
    ['/me/keys/new', '/keys'],
    ['/me/webhooks/new', '/webhooks', { Address: 'https://a.example/?it=$1&b' }],
    ['/me/workflows/new?tab=hooks', '/hooks', { 'What the skill does with it': NAME }],
    ['/all/engines/new', '/engines', { Name: 'main', Address: 'http://127.0.0.1:9/v1', Key: 'secret' }],
  ])('%s sends the same as a command', async (...[address, path, written = { Name: NAME }]: Case) => {
    // The commands' default owner is the oldest account, so that of the page must be named.
    const { page, problems } = await open(address)
    for (const [label, text] of Object.entries(written)) await write(page, label, text)
    const shown = async (kind: string) => {
      await press(page, `As ${kind}`)
      const code = await page.waitForSelector(`form [aria-label="${kind}"] code`)
      return pasted(await code!.evaluate((it) => it.textContent ?? ''))
    }
    const body = JSON.parse((await shown('request')).words.at(-1)!)
    const { words, stdin } = await shown('command')
    const { Key: secret, ...texts } = written
    for (const text of Object.values(texts)) expect(JSON.stringify(body)).toContain(JSON.stringify(text))
    // What is secret is left out of both.
    expect(`${JSON.stringify(body)} ${words} ${stdin}`).not.toContain(secret ?? 'no secret')
    sent.length = 0
    await run(words, { io: fakeIo({ stdin }) })
    const owner = path === '/keys' || path === '/engines' ? null : `user:${person.userId}`
    if (path === '/keys') {
      expect(body).toMatchObject({ scope: 'personal' })
      Object.assign(body, { scope: null, user: person.userId, personal: true })
    }
    expect(sent.map((it) => ({ ...it, body: withoutDefaults(it.body) }))).toEqual([
      { method: 'POST', path: `${path} ${owner}`, body: withoutDefaults(body) },
    ])
    expect(await wrongIn(page, 'as-command')).toEqual([])
    expect(problems).toEqual([])
  })
})

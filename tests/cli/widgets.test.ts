import { expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tourLine } from '../first-run/readme'
import { cliOver } from '../support/cli'
import { eventually } from '../support/eventually'
import { fakeIo } from '../support/io'
import { createWidgetWorld, SHOP } from '../widgets/world'

const world = await createWidgetWorld()
const run = cliOver(world as never)
const textOf = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '')
const { json } = run

test('widgets are made, changed, copied, switched, shown and deleted', async () => {
  const { key, keyId } = await world.person()
  const made = await json(['widgets', 'create', '--key', keyId, '--origin', SHOP, '--accent', '#0f766e'], { key })
  expect(made).toMatchObject({ name: 'My Widget', security: { allowedOrigins: [SHOP] } })
  expect(await json(`widgets update ${made.id} --welcome Hello! --name Hats`, { key })).toMatchObject({
    name: 'Hats',
    appearance: { primaryColor: '#0f766e' },
    behavior: { welcomeMessage: 'Hello!' },
  })
  expect((await json(`widgets duplicate ${made.id}`, { key })).name).toBe('Hats (copy)')
  expect((await json(`widgets disable ${made.id}`, { key })).status).toBe('disabled')
  expect((await json(`widgets enable ${made.id}`, { key })).status).toBe('active')
  expect(await json('widgets list', { key })).toHaveLength(2)
  expect((await json(`widgets snippet ${made.id}`, { key })).embed_snippet).toContain(`data-config-id="${made.id}"`)
  expect((await json(`widgets preview ${made.id}`, { key })).preview_url).toContain('?preview=svc_wp_')
  expect((await run(`widgets verify-domain ${made.id} shop.invalid`, { key })).exitCode).toBe(9)
  expect((await run(`widgets delete ${made.id}`, { key })).exitCode).toBe(2)
  expect(await json(`widgets delete ${made.id} --yes`, { key })).toMatchObject({ deleted: true })
  expect((await run(`widgets get ${made.id}`, { key })).exitCode).toBe(3)
})

test('operators take a conversation over, answer it and release it, whosever it is', async () => {
  const { id, owner } = await world.widget()
  const chat = await world.begin(id)
  await world.asVisitor(chat)('POST', '/request-human', { reason: 'A refund' })
  const waiting = await json('takeovers list --status requested')
  expect(waiting).toMatchObject([{ session_id: chat.sessionId, reason: 'A refund' }])
  const taken = await json(['takeovers', 'take', chat.sessionId, '--as', 'Ann', '--say', 'Ann here.'])
  expect(taken).toMatchObject({ takeover_status: 'human', operator: { name: 'Ann' } })
  const stolen = ['takeovers', 'take', chat.sessionId, '--widget', id]
  expect((await run(stolen, { key: owner.key })).exitCode).toBe(5)
  expect((await json(['takeovers', 'reply', chat.sessionId, 'It is on its way.'])).role).toBe('operator')
  const message = await json(`takeovers transcript ${chat.sessionId} --widget ${id}`, { key: owner.key })
  expect(message.map(({ content }: { content: string }) => content)).toEqual(['Ann here.', 'It is on its way.'])
  expect((await run([...stolen, '--steal', '--reason', 'end of shift'], { key: owner.key })).exitCode).toBe(2)
  expect(await json([...stolen, '--steal', '--yes', '--reason', 'end of shift'], { key: owner.key })).toMatchObject({
    takeover_status: 'human',
  })
  expect((await json(`takeovers release ${chat.sessionId}`)).takeover_status).toBe('ai')
  expect((await run('takeovers list', { key: owner.key })).exitCode).toBe(2)
  expect((await run(`takeovers release ${id}`)).exitCode).toBe(3)
})

test('an operator who says no name is Support', async () => {
  const chat = await world.begin((await world.widget()).id)
  expect((await json(`takeovers take ${chat.sessionId.slice(0, 8)}`)).operator.name).toBe('Support')
  const { stdout } = await run(['takeovers', 'reply', chat.sessionId, 'Good morning.'])
  expect(stdout).toContain('Good morning.')
  expect(stdout).not.toMatch(/operator|uid|@/)
})

test('a chat is answered line by line, with notes, a draft, and a hand over', async () => {
  const { id, owner } = await world.widget()
  const chat = await world.begin(id)
  const at = { key: owner.key }
  const here = [chat.sessionId, '--widget', id]
  const before = await run(['takeovers', 'note', ...here, 'Wants a refund.'], at)
  expect(before).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Wants a refund.') })
  const typed = 'Good morning.\n/note Knows the shop.\n/nonsense\n/leave\nnever sent'
  const attached = await run(['takeovers', 'attach', ...here, '--as', 'Ann'], { ...at, io: fakeIo({ stdin: typed }) })
  expect(attached.exitCode).toBe(0)
  expect(attached.stderr).toContain('Steps: /release')
  await world.say(chat, 'What is 19 times 21?')
  const drafted = await run(['takeovers', 'reply', ...here, '--draft'], at)
  expect(drafted).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('399') })
  const again = await run(['takeovers', 'attach', ...here, '--as', 'Ann'], { ...at, io: fakeIo({ stdin: '/leave' }) })
  expect(again.stdout).toMatch(tourLine('takeovers attach'))
  const piped = await run(['takeovers', 'reply', ...here], { ...at, io: fakeIo({ stdin: 'From a pipe.\n' }) })
  expect(piped.exitCode).toBe(0)
  expect((await run(['takeovers', 'handover', ...here], at)).exitCode).toBe(2)
  expect((await run(['takeovers', 'handover', ...here, '--to', 'nobody@example.com'], at)).exitCode).toBe(3)
  expect((await run(['takeovers', 'handover', ...here, '--to', owner.userId], at)).exitCode).toBe(0)
  const { stdout } = await run(['takeovers', 'transcript', ...here, '--markdown'], at)
  expect(stdout).toContain('**operator**')
  expect(stdout).toContain('> From a pipe.')
  expect(stdout).not.toMatch(/never sent|nonsense|Knows the shop/)
  const { notes } = (await world.transcript(owner, chat)('GET')).body
  expect(notes.map(({ content }: { content: string }) => content)).toEqual(['Wants a refund.', 'Knows the shop.'])
  const released = await json(['takeovers', 'release', ...here], at)
  expect(released.messages.map(({ role }: { role: string }) => role)).toEqual(['operator', 'user', 'operator'])
})

test('a command runs for each change, and what visitors wrote is no part of it', async () => {
  const { id } = await world.widget()
  await world.asVisitor(await world.begin(id))('POST', '/request-human', { reason: '$(touch owned); `id` "\u001b[2J' })
  const file = join(world.folder, 'changes.txt')
  const stop = new AbortController()
  const watching = run(
    ['takeovers', 'watch', '--widget', id, '--exec', `printf '%s|%s\n' "$SVC_STATUS" "$SVC_REASON" >> ${file}`],
    { signal: stop.signal },
  )
  expect(await eventually(() => textOf(file))).toStartWith('requested|$(touch owned); `id` "')
  stop.abort()
  await watching
  expect(readFileSync(file, 'utf8')).not.toContain('\u001b')
})

test('a link signs one person in and opens the inbox', async () => {
  const { url } = await json(['takeovers', 'link', '--for', (await world.person()).userId, '--ttl', '30m'])
  const body = new URLSearchParams({ token: new URL(url).hash.slice(1), step: 'sign-in' }).toString()
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }
  const entered = await world.send('POST', '/sign-in/link', body, headers)
  expect(entered.status).toBe(303)
  expect(entered.headers.get('location')).toBe('/operator')
  expect((await run('takeovers link --for nobody@example.com')).exitCode).toBe(3)
})

test('a whole page to try a widget with has nothing in it that its name could run', async () => {
  const { key, keyId } = await world.person()
  const made = await json(`widgets create --key ${keyId.slice(0, 8)} --name <script>1</script>`, { key })
  const { stdout } = await run(`widgets snippet ${made.id} --page`, { key })
  expect(stdout).toStartWith('<!doctype html>')
  expect(stdout).toContain(`data-config-id="${made.id}"`)
  expect(stdout).not.toContain('<script>1')
  const file = join(world.folder, 'opened.txt')
  const opener = join(world.folder, 'opener')
  writeFileSync(opener, `#!/bin/sh\nprintf %s "$1" > ${file}.new && mv ${file}.new ${file}\n`, { mode: 0o755 })
  await run(`widgets preview ${made.id} --open`, { key, env: { BROWSER: opener } })
  expect(await eventually(() => textOf(file))).toContain('?preview=svc_wp_')
})

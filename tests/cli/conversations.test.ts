import { describe, expect, test } from 'bun:test'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { operatorSender, remoteSender } from '../operators/support'
import { cliOver } from '../support/cli'
import { fakeClock } from '../support/clock'
import { recordedIn } from '../support/recorded'
import { createWorld, type Person } from '../support/world'

const clock = fakeClock()
const world = await createWorld({ clock, config: { opsListen: '127.0.0.1:0' } })
const run = cliOver(world, { clock })
const { json } = run
const ops = operatorSender(world)
const idsOf = (found: { id: string }[]) => found.map(({ id }) => id)
const SECRET = 'the password is heron'

async function talk(person: Person, prompt = SECRET): Promise<string> {
  clock.advance(60_000)
  return (await person.send('POST', 'completions', { prompt, mode: 'fast' })).body.conversation_id
}

/** How often operators read this conversation, by the record of its owner. */
const reads = (id: string) => recordedIn(world, { action: 'conversation.read', entityId: id })

describe('conversations (docs/operating.md 2.14)', () => {
  test('list: operators see whose and how many, tenants their own with titles', async () => {
    const [ada, eve] = [await world.person(), await world.person()]
    const [mine, theirs] = [await talk(ada), await talk(eve)]
    const seen = await json(`conversations list --org user:${ada.userId}`)
    expect(seen).toMatchObject([{ id: mine, owner: `user:${ada.userId}`, messageCount: 2 }])
    expect(JSON.stringify(seen)).not.toContain('heron')
    expect(idsOf(await json(`conversations list --key ${eve.keyId}`))).toEqual([theirs])
    expect(idsOf(await json('conversations list'))).toEqual(expect.arrayContaining([mine, theirs]))
    expect(await json('conversations list', { key: ada.key })).toMatchObject([{ id: mine, title: SECRET }])
    clock.advance(3_600_000)
    const newer = await talk(ada)
    for (const options of [{ key: ada.key }, {}]) {
      const ownerFilter = 'key' in options ? [] : ['--org', `user:${ada.userId}`]
      expect(idsOf(await json(['conversations', 'list', '--since', '30m', ...ownerFilter], options))).toEqual([newer])
    }
    expect((await run(`conversations list --key ${ada.keyId}`, { key: ada.key })).exitCode).toBe(2)
    expect((await run('conversations list --org nobody')).exitCode).toBe(3)
  })

  test('get shows what was said only with --show-content, and an operator who reads it is recorded', async () => {
    const ada = await world.person()
    const id = await talk(ada)
    expect((await run(`conversations get ${id}`)).stdout).not.toContain('heron')
    expect(await reads(id)).toHaveLength(0)
    expect((await run(['conversations', 'get', id, '--show-content', '--reason', 'ticket 7'])).stdout).toContain(
      'heron',
    )
    expect(await reads(id)).toMatchObject([{ entity_id: id }])
    for (const word of [id, id.slice(0, 8)])
      expect((await run(`conversations get ${word}`, { key: ada.key })).stdout).toContain(id)
    expect((await run(`conversations get ${id.slice(0, 8)}`)).stdout).toContain(id)
    expect((await run(`conversations get ${id} --show-content`, { key: ada.key })).stdout).toContain('heron')
    expect(await reads(id)).toHaveLength(1)
    expect((await run(`conversations get ${id}`, { key: (await world.person()).key })).exitCode).toBe(3)
    for (const [role, status] of [
      ['viewer', 403],
      ['support', 200],
    ] as const) {
      const { body } = await ops('POST', 'operators', { name: role, role })
      const there = remoteSender(world, body.key)
      expect((await there('GET', `conversations/${id}/messages`)).status).toBe(status)
      expect((await there('GET', `conversations/${id}`)).status).toBe(200)
      expect((await there('DELETE', `conversations/${id}`)).status).toBe(403)
    }
  })

  test('items: a key lists its own, page by page, with calls and their results', async () => {
    const ada = await world.person()
    const call = { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' }
    const items = [
      { type: 'message', role: 'user', content: 'What is the weather?' },
      call,
      { type: 'function_call_output', call_id: 'call_1', output: 'Snow.' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'It snows.' }] },
    ]
    const { id } = (await ada.send('POST', 'conversations', { items })).body
    const key = { key: ada.key }
    const all = await json(`conversations items ${id} --all --limit 3`, key)
    expect(all).toMatchObject([
      ...[{ type: 'message', role: 'assistant' }, { output: 'Snow.' }, call],
      { content: [{ text: 'What is the weather?' }] },
    ])
    const { stdout, stderr } = await run(`conversations items ${id} --limit 3`, key)
    for (const text of ['It snows.', 'Snow.', 'weather({"city":"Oslo"})']) expect(stdout).toContain(text)
    expect(stdout).not.toContain('What is the weather?')
    const [, cursor] = /--cursor (\S+),/.exec(stderr)!
    expect(idsOf(await json(['conversations', 'items', id, '--cursor', cursor!], key))).toEqual([all[3].id])
    const [empty, eve] = [(await ada.send('POST', 'conversations', {})).body, await world.person()]
    expect((await run(`conversations items ${empty.id}`, key)).stderr).toContain('It has no items.')
    expect(await json(`conversations items ${empty.id}`, key)).toEqual([])
    expect((await run(`conversations items ${id}`, { key: eve.key })).exitCode).toBe(3)
    expect((await run(`conversations items ${id}`)).exitCode).toBe(4)
  })

  test('export writes each with its messages, to a file of its own', async () => {
    const ada = await world.person()
    const ids = [await talk(ada), await talk(ada, 'second')]
    const out = join(world.folder, 'mine.jsonl')
    await run(`conversations export --out ${out}`, { key: ada.key })
    const lines = readFileSync(out, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(idsOf(lines)).toEqual(ids.toReversed())
    expect(lines[1].messages).toMatchObject([{ role: 'user', content: SECRET }, { role: 'assistant' }])
    expect(statSync(out).mode & 0o777).toBe(0o600)
    expect((await run('conversations export --reason r')).exitCode).toBe(2)
    expect((await run(`conversations export --org user:${ada.userId}`)).exitCode).toBe(2)
    const { stdout } = await run(['conversations', 'export', '--key', ada.keyId, '--reason', 'asked by Ada'])
    expect(stdout.trim().split('\n')).toHaveLength(2)
    for (const id of ids) expect(await reads(id)).toHaveLength(1)
  })

  test('delete ends one, as its owner or as operator, once it is confirmed', async () => {
    const ada = await world.person()
    const [one, other] = [await talk(ada), await talk(ada)]
    expect((await run(['conversations', 'delete', one!, '--dry-run'], { key: ada.key })).stderr).toContain('2 messages')
    expect((await run(['conversations', 'delete', one!], { key: ada.key })).exitCode).toBe(2)
    expect(await json(['conversations', 'delete', one!, '--yes'], { key: ada.key })).toMatchObject({ deleted: true })
    expect(await json(['conversations', 'delete', other!, '--yes'])).toMatchObject({ deleted: true })
    for (const id of [one, other]) expect((await ada.send('GET', `conversations/${id}`)).status).toBe(404)
    expect((await run(['conversations', 'delete', other!, '--yes'])).exitCode).toBe(3)
    expect(await recordedIn(world, { action: 'conversation.deleted', entityId: other! })).toHaveLength(1)
  })

  test('purge takes the old ones of one owner, after its name', async () => {
    const [ada, eve] = [await world.person(), await world.person()]
    const [old, theirs] = [await talk(ada), await talk(eve)]
    clock.advance(91 * 86_400_000)
    const young = await talk(ada)
    const who = `user:${ada.userId}`
    const line = ['conversations', 'purge', '--org', who, '--before', '90d']
    expect((await run(line)).exitCode).toBe(2)
    expect((await run([...line, '--reason', 'r'])).exitCode).toBe(2)
    expect((await run([...line, '--reason', 'r', '--yes'])).exitCode).toBe(2)
    expect((await run([...line, '--reason', 'r', '--dry-run'])).stderr).toContain('would delete 1 conversation of')
    expect(await json([...line, '--reason', 'retention', '--confirm', who])).toMatchObject({ conversations: 1 })
    expect((await ada.send('GET', `conversations/${old}`)).status).toBe(404)
    expect((await ada.send('GET', `conversations/${young}`)).status).toBe(200)
    expect((await eve.send('GET', `conversations/${theirs}`)).status).toBe(200)
    expect((await run('conversations purge --before 90d --reason r')).exitCode).toBe(2)
    expect(await world.app.container.conversations.verify(world.app.store.read)).toEqual([])
    expect(await recordedIn(world, { action: 'conversation.purged' })).toHaveLength(1)
  })
})

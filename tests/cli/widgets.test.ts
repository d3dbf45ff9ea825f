import { expect, test } from 'bun:test'
import { cliOver } from '../support/cli'
import { createWidgetWorld, SHOP } from '../widgets/world'

const world = await createWidgetWorld()
const run = cliOver(world as never)
const json = async (line: string[], options = {}) => JSON.parse((await run([...line, '--json'], options)).stdout)

test('widgets are made, changed, copied, switched, shown and deleted', async () => {
  const { key, keyId } = await world.person()
  const made = await json(['widgets', 'create', '--key', keyId, '--origin', SHOP, '--accent', '#0f766e'], { key })
  expect(made).toMatchObject({ name: 'My Widget', security: { allowedOrigins: [SHOP] } })
  const changed = await json(['widgets', 'update', made.id, '--welcome', 'Hello!', '--name', 'Hats'], { key })
  expect(changed).toMatchObject({
    name: 'Hats',
    appearance: { primaryColor: '#0f766e' },
    behavior: { welcomeMessage: 'Hello!' },
  })
  expect((await json(['widgets', 'duplicate', made.id], { key })).name).toBe('Hats (copy)')
  expect((await json(['widgets', 'disable', made.id], { key })).status).toBe('disabled')
  expect((await json(['widgets', 'enable', made.id], { key })).status).toBe('active')
  expect(await json(['widgets', 'list'], { key })).toHaveLength(2)
  expect((await json(['widgets', 'snippet', made.id], { key })).embed_snippet).toContain(`data-config-id="${made.id}"`)
  expect((await json(['widgets', 'preview', made.id], { key })).preview_url).toContain('?preview=svc_wp_')
  const checked = await run(['widgets', 'verify-domain', made.id, 'shop.invalid'], { key })
  expect(checked.exitCode).toBe(9)
  expect((await run(['widgets', 'delete', made.id], { key })).exitCode).toBe(2)
  expect(await json(['widgets', 'delete', made.id, '--yes'], { key })).toMatchObject({ deleted: true })
  expect((await run(['widgets', 'get', made.id], { key })).exitCode).toBe(3)
})

test('operators take a conversation over, answer it and release it, whosever it is', async () => {
  const { id, owner } = await world.widget()
  const chat = await world.begin(id)
  await world.asVisitor(chat)('POST', '/request-human', { reason: 'A refund' })
  const waiting = await json(['takeovers', 'list', '--status', 'requested'])
  expect(waiting).toMatchObject([{ session_id: chat.sessionId, reason: 'A refund' }])
  const taken = await json(['takeovers', 'take', chat.sessionId, '--as', 'Ann', '--say', 'Ann here.'])
  expect(taken).toMatchObject({ takeover_status: 'human', operator: { name: 'Ann' } })
  const stolen = ['takeovers', 'take', chat.sessionId, '--widget', id]
  expect((await run(stolen, { key: owner.key })).exitCode).toBe(5)
  expect((await json(['takeovers', 'reply', chat.sessionId, 'It is on its way.'])).role).toBe('operator')
  const said = await json(['takeovers', 'transcript', chat.sessionId, '--widget', id], { key: owner.key })
  expect(said.map(({ content }: { content: string }) => content)).toEqual(['Ann here.', 'It is on its way.'])
  expect(await json([...stolen, '--steal'], { key: owner.key })).toMatchObject({ takeover_status: 'human' })
  expect((await json(['takeovers', 'release', chat.sessionId])).takeover_status).toBe('ai')
  expect((await run(['takeovers', 'list'], { key: owner.key })).exitCode).toBe(2)
  expect((await run(['takeovers', 'release', id])).exitCode).toBe(3)
})

test('an operator who says no name is Support', async () => {
  const { id } = await world.widget()
  const chat = await world.begin(id)
  expect((await json(['takeovers', 'take', chat.sessionId])).operator.name).toBe('Support')
  const { stdout } = await run(['takeovers', 'reply', chat.sessionId, 'Good morning.'])
  expect(stdout).toContain('Good morning.')
  expect(stdout).not.toMatch(/operator|uid|@/)
})

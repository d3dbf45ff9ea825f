import { expect, test } from 'bun:test'
import { publicName } from '../../src/widgets'
import { sendToVisitor, takeChat } from '../../src/widgets/operators'
import { operatorCall } from '../support/world'
import { createWidgetWorld } from './world'

const world = await createWidgetWorld()
const { widget, begin, listenTo, asVisitor, transcript } = world
const MACHINE = 'unknown@vm (uid 0)'
const machine = () => {
  const call = operatorCall()
  return { ...call, caller: { ...call.caller, name: MACHINE } }
}

test('of an operator of the server, visitors and owners read neither machine nor account', async () => {
  const { owner, id } = await widget()
  const chat = await begin(id)
  const notice = await listenTo(chat)
  const { deps } = world.app.container.widgets
  expect((await takeChat(deps, machine(), chat, { message: 'Good morning.' })).operator.name).toBe('Support')
  const { data } = await notice.until(({ data }) => data.takeover_status === 'human')
  expect(data.operator).toEqual({ name: 'Support' })
  expect((await sendToVisitor(deps, machine(), chat, 'Still here.')).message.role).toBe('operator')
  const refused = await transcript(owner, chat)('POST', '/takeover', { operator_name: 'Ann' })
  expect(refused).toMatchObject({
    status: 409,
    body: { error: { message: expect.stringContaining('Support has taken over') } },
  })
  const seen = await asVisitor(chat)('GET', '')
  const read = await transcript(owner, chat)('GET')
  for (const { text } of [refused, seen, read]) expect(text).not.toMatch(/unknown|@vm|uid 0/)
  notice.leave()
})

test('an address is no name for visitors, whatever was asked for', async () => {
  const { owner, id } = await widget()
  const taken = await transcript(owner, await begin(id))('POST', '/takeover', { operator_name: 'priya@shop.example' })
  expect(taken.body.operator.name).toStartWith('Person ')
})

test('a name that acts on a terminal or turns a line around is shown without that', async () => {
  const { owner, id } = await widget()
  const chat = await begin(id)
  const taken = await transcript(owner, chat)('POST', '/takeover', { operator_name: '\u001b[31mX\u202e' })
  expect(taken.body.operator.name).toBe('X·')
  expect((await asVisitor(chat)('GET', '')).body.operator).toEqual({ name: 'X·' })
})

test.each([
  [[null, undefined], 'Support'],
  [['', '  '], 'Support'],
  [['ann@shop.example'], 'Support'],
  [['31aa07c2-6f7e-4d0a-9a52-0d9f6b1f2c11', 'Ann'], 'Ann'],
  [[' Ann ', 'Bob'], 'Ann'],
  [['\u001b[31mX\u202e', 'Ann'], 'X·'],
  [['Ann\n  Lee\0'], 'Ann Lee'],
  [['\u202e', '\u200b', 'Ann'], 'Ann'],
])('of %p visitors read %s', (names, shown) => {
  expect(publicName(...names)).toBe(shown)
})

test('who takes over again without a name keeps theirs; under another name it is another person', async () => {
  const { owner, id } = await widget()
  const take = transcript(owner, await begin(id))
  for (const body of [{ operator_name: 'Ann' }, {}, { operator_name: 'Ann' }])
    expect((await take('POST', '/takeover', body)).body).toMatchObject({ operator: { name: 'Ann' } })
  expect((await take('POST', '/takeover', { operator_name: 'Bob' })).status).toBe(409)
})

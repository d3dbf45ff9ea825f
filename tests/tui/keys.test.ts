import { describe, expect, test } from 'bun:test'
import { commandLines } from '../../tui/draw/boxes'
import { GLOBAL, SCREEN_KEYS } from '../../tui/keymap'
import { LISTS } from '../../tui/screens'
import { type Model, SCREENS } from '../../tui/state/model'
import { chosenRow, shownRows } from '../../tui/state/rows'
import { update } from '../../tui/state/update'
import { modelOf, NOW, press, typed } from './support/model'

const dialogOf = ({ mode }: Model) => (mode.type === 'dialog' ? mode.dialog : null)
const lastWord = ({ messages }: Model) => messages.at(-1)?.text ?? ''

describe('the table of keys', () => {
  test.each(SCREENS)('%s has no key with two meanings of its own', (screen) => {
    const keys = (SCREEN_KEYS[screen] ?? []).flatMap(({ keys }) => keys)
    expect(new Set(keys).size).toBe(keys.length)
  })
  test('no global key has two meanings, and none of a screen changes something where another one looks', () => {
    const keys = GLOBAL.flatMap(({ keys }) => keys)
    expect(new Set(keys).size).toBe(keys.length)
  })
  test('each action of a list has a key', () => {
    for (const [screen, view] of Object.entries(LISTS)) {
      const does = (SCREEN_KEYS[screen] ?? []).map(({ does }) => does)
      for (const action of Object.keys(view.actions)) expect(does).toContain(action)
    }
  })
})

describe('moving', () => {
  test('digits go to the screens, and the stream begins anew with their topics', () => {
    const { model, effects } = press(modelOf(), '2')
    expect(model.screen).toBe('jobs')
    expect(effects).toContainEqual({ type: 'reconnect' })
  })
  test('the overview opens where the chosen kind is done', () => {
    expect(press(modelOf(), 'enter').model.screen).toBe('takeovers')
    expect(press(modelOf(), 'down', 'enter').model.screen).toBe('submissions')
  })
  test('the chosen row stays chosen when others come above, and a counter says how many', () => {
    const { model } = press(modelOf({ screen: 'jobs' }), 'down', 'down')
    const chosen = chosenRow(model)!.id
    const rows = model.topics.jobs!.rows
    const fresh = { ...rows[0]!, id: 'job_new' }
    const order = ['job_new', ...rows.map(({ id }) => id)]
    const event = { type: 'delta', seq: 2, topic: 'jobs', changed: [fresh], order, at: '' } as const
    const next = update(model, { type: 'streamed', events: [event] }).model
    expect(chosenRow(next)!.id).toBe(chosen)
    expect(next.lists.jobs.arrived).toBe(1)
    expect(press(next, 'f').model.lists.jobs).toMatchObject({ chosen: null, arrived: 0 })
  })
  test('a gap in the numbers asks for a new beginning, and changes nothing', () => {
    const model = modelOf({ screen: 'jobs' })
    const event = { type: 'delta', seq: 7, topic: 'jobs', changed: [], order: [], at: '' } as const
    const step = update(model, { type: 'streamed', events: [event] })
    expect(step.effects).toContainEqual({ type: 'reconnect' })
    expect(shownRows(step.model)).toHaveLength(8)
  })
  test('s sorts by each column in turn, down and up, and then as the server does', () => {
    const first = press(modelOf({ screen: 'keys' }), 's').model
    expect(first.lists.keys.sort).toEqual({ column: 0, descending: true })
    expect(shownRows(first).map(({ id }) => id)[0]).toBe('old-server')
    const columns = LISTS.keys!.columns.length
    const all = press(modelOf({ screen: 'keys' }), ...Array<string>(columns * 2 + 1).fill('s')).model
    expect(all.lists.keys.sort).toBeNull()
  })
})

describe('filtering', () => {
  test('Enter keeps it, Esc drops it, and an arrow brings the earlier one back', () => {
    const kept = press(modelOf({ screen: 'jobs' }), '/', ...typed('status:failed'), 'enter').model
    expect(shownRows(kept).map(({ id }) => id)).toEqual(['job_7Qh4Pp', 'job_7Qg0Rr'])
    expect(shownRows(press(kept, 'esc').model)).toHaveLength(8)
    const again = press(kept, 'esc', '/', 'up').model
    expect(again.mode).toMatchObject({ type: 'filter', draft: 'status:failed' })
    expect(shownRows(press(kept, 'esc', '/', ...typed('video'), 'esc').model)).toHaveLength(8)
  })
})

describe('changing', () => {
  test('a dialog stands between, with Cancel chosen, and shows the shell command', () => {
    const { model, effects } = press(modelOf({ screen: 'jobs' }), 'c')
    expect(dialogOf(model)).toMatchObject({ title: 'Cancel job_7Qm2Zs?', verb: 'Cancel job', focus: 'cancel' })
    expect(commandLines(dialogOf(model)!)).toEqual(['svc-admin jobs cancel job_7Qm2Zs --yes'])
    expect(effects).toEqual([])
    expect(press(model, 'enter')).toMatchObject({ model: { mode: { type: 'browse' } }, effects: [] })
    expect(press(model, 'tab', 'enter').effects).toEqual([
      { type: 'run', argv: ['jobs', 'cancel', 'job_7Qm2Zs', '--yes'], as: 'told', write: true },
    ])
  })
  test('marked rows are changed together', () => {
    const { model } = press(modelOf({ screen: 'jobs' }), 'space', 'space', 'c')
    expect(dialogOf(model)!.argv).toEqual([['jobs', 'cancel', 'job_7Qm2Zs', 'job_7Qm1Ab', '--yes']])
  })
  test('a reason that is needed is asked for, and whatever it is, it stays one word of the command', () => {
    const { model } = press(modelOf({ screen: 'keys' }), 'x', 'enter')
    expect(dialogOf(model)!.focus).toBe('field')
    const { effects } = press(model, ...typed("-x 'y' $z"), 'enter', 'enter')
    expect(effects).toEqual([
      { type: 'run', argv: ['keys', 'revoke', 'Production', '--yes', "--reason=-x 'y' $z"], as: 'told', write: true },
    ])
  })
  test('read-only changes nothing; :write turns it on', () => {
    const model = modelOf({ screen: 'jobs', canWrite: false })
    const { effects, model: after } = press(model, 'c', 'tab', 'enter')
    expect(effects).toEqual([])
    expect(lastWord(after)).toContain('read-only')
    expect(press(after, ':', ...typed('write'), 'enter').model.canWrite).toBe(true)
  })
  test('nothing is changed while the server is away', () => {
    const lost = update(modelOf({ screen: 'jobs' }), { type: 'lost', problem: 'gone', tries: 1, nextTryAt: NOW }).model
    expect(press(lost, 'c', 'tab', 'enter').effects).toEqual([])
  })
  test('tier security is approved only after diff and tools were opened', () => {
    const details = {
      'submissions/sub_1/diff': { value: { parts: [], added: 0, removed: 0, sha: 'abc' }, at: NOW, problem: null },
    }
    const { model } = press(modelOf({ screen: 'submissions', details }), 'enter')
    expect(lastWord(press(model, 'A').model)).toContain('open Diff and Tools first')
    const dialog = dialogOf(press(model, 'd', 't', 'A').model)!
    expect(dialog.argv).toEqual([['submissions', 'approve', 'sub_1', '--i-read-the-diff', 'abc']])
  })
  test('a role that may only look turns changes off by itself', () => {
    const events = [{ type: 'hello', operator: 'lee', role: 'viewer', version: '1', holder: 'operator:lee' }] as const
    const { model } = update(modelOf(), { type: 'streamed', events })
    expect([model.canWrite, model.where.operator]).toEqual([false, 'lee'])
  })
})

describe('the palette', () => {
  test('finds by parts of words, completes before it runs, and runs what is whole', () => {
    const begun = press(modelOf(), ':', ...typed('grant cr'), 'enter')
    expect(begun.model.mode).toEqual({ type: 'palette', draft: 'credits grant ', at: 0 })
    const { effects } = press(begun.model, ...typed('acme 50.00 --reason "for the launch"'), 'enter')
    expect(effects).toEqual([
      {
        type: 'run',
        argv: ['credits', 'grant', 'acme', '50.00', '--reason', 'for the launch'],
        as: 'shown',
        write: true,
      },
    ])
  })
  test('what a command said is shown; a failure is never silent', () => {
    const ran = { type: 'ran', argv: ['jobs', 'cancel', 'x'], out: '', err: 'error: no such job', as: 'told' } as const
    const { model } = update(modelOf(), { ...ran, exitCode: 3 })
    expect(model.mode).toMatchObject({ type: 'output', lines: ['error: no such job', 'exit 3'] })
    expect(lastWord(model)).toBe('not done: error: no such job')
  })
})

describe('a secret', () => {
  const made = (model: Model) =>
    update(model, {
      ...{ type: 'ran', argv: ['keys', 'create'], exitCode: 0, err: '', as: 'secret' },
      out: JSON.stringify({ name: 'ci', key: 'svc_sk_live_abc', tier: 'free', scopes: [] }),
    }).model
  test('is not left by accident', () => {
    const shown = made(modelOf({ screen: 'keys' }))
    const asked = press(shown, 'esc').model
    expect(asked.mode).toMatchObject({ type: 'secret', asking: true })
    expect(press(asked, 'esc').model.mode.type).toBe('browse')
    expect(press(shown, 'y').effects).toEqual([{ type: 'copy', text: 'svc_sk_live_abc' }])
    expect(press(shown, 'enter').model.mode.type).toBe('browse')
  })
})

describe('a chat', () => {
  const mine = () => press(modelOf({ screen: 'takeovers' }), 'down', 'down').model
  test('is written to only by who has it; what is not sent is kept', () => {
    expect(lastWord(press(modelOf({ screen: 'takeovers' }), 'i').model)).toContain('press T')
    const begun = press(mine(), 'i', ...typed('Usually three days.'), 'esc').model
    expect(begun.drafts.s3).toBe('Usually three days.')
    const { effects } = press(begun, 'i', 'enter')
    const [run] = effects as unknown as { argv: string[] }[]
    expect(run!.argv.slice(-3)).toEqual(['--', 's3', 'Usually three days.'])
    expect(run!.argv).toContain('--idempotency-key')
    expect((press(begun, 'i', 'enter').effects[0] as unknown as { argv: string[] }).argv).toEqual(run!.argv)
  })
  test('a text that did not go out stays, and says so', () => {
    const sending = press(mine(), 'i', ...typed('Hello'), 'enter').model
    const ran = { type: 'ran', argv: [], exitCode: 5, out: '', err: 'error: Priya has it', as: 'reply' } as const
    const { model } = update(sending, ran)
    expect(model.mode).toMatchObject({ type: 'write', sending: false, failed: 'error: Priya has it' })
    expect(model.drafts.s3).toBe('Hello')
    expect(update(sending, { ...ran, exitCode: 0, err: '' }).model.drafts.s3).toBe('')
  })
})

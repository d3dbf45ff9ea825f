import { describe, expect, test } from 'bun:test'
import { commandLines } from '../../tui/draw/boxes'
import { GLOBAL, SCREEN_KEYS } from '../../tui/keymap'
import { LISTS } from '../../tui/screens'
import type { Effect } from '../../tui/state/model'
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
  test('digits switch the screens, and the stream restarts with their topics', () => {
    const { model, effects } = press(modelOf(), '2')
    expect(model.screen).toBe('jobs')
    expect(effects).toContainEqual({ type: 'reconnect' })
  })
  test('digits go there from the help and the messages, too', () => {
    for (const way of ['?', 'm']) {
      const { model } = press(modelOf(), way, '2')
      expect({ screen: model.screen, type: model.mode.type }).toEqual({ screen: 'jobs', type: 'browse' })
    }
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

test('filtering: Enter keeps it, Esc drops it, and an arrow brings the earlier one back', () => {
  const stored = press(modelOf({ screen: 'jobs' }), '/', ...typed('status:failed'), 'enter').model
  expect(shownRows(stored).map(({ id }) => id)).toEqual(['job_7Qh4Pp', 'job_7Qg0Rr'])
  expect(shownRows(press(stored, 'esc').model)).toHaveLength(8)
  expect(press(stored, 'esc', '/', 'up').model.mode).toMatchObject({ type: 'filter', draft: 'status:failed' })
  expect(shownRows(press(stored, 'esc', '/', ...typed('video'), 'esc').model)).toHaveLength(8)
})

describe('changing', () => {
  test('a dialog asks first, with Cancel selected, and shows the shell command', () => {
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
  test('a required reason is requested, and stays one argument of the command', () => {
    const { model } = press(modelOf({ screen: 'keys' }), 'x', 'enter')
    expect(dialogOf(model)!.focus).toBe('field')
    expect(press(model, ...typed("-x 'y' $z"), 'enter', 'enter').effects).toEqual([
      { type: 'run', argv: ['keys', 'revoke', 'Production', '--yes', "--reason=-x 'y' $z"], as: 'told', write: true },
    ])
  })
  test('read-only changes nothing; :write turns it on', () => {
    const { effects, model: after } = press(modelOf({ screen: 'jobs', canWrite: false }), 'c', 'tab', 'enter')
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
    const events = [
      { type: 'hello', operator: 'lee', role: 'viewer', version: '0.1.0', holder: 'operator:lee' },
    ] as const
    const { model } = update(modelOf(), { type: 'streamed', events })
    expect({ canWrite: model.canWrite, operator: model.where.operator }).toEqual({ canWrite: false, operator: 'lee' })
    expect(lastWord(model)).toContain('Links and what people wrote are hidden')
  })
})

describe('the palette', () => {
  test('finds by parts of words, completes before it runs, and runs what is whole', () => {
    const begun = press(modelOf(), ':', ...typed('grant cr'), 'enter')
    expect(begun.model.mode).toEqual({ type: 'palette', draft: 'credits grant ', at: 0 })
    expect(press(begun.model, ...typed('acme 50.00 --reason "for the launch"'), 'enter').effects).toEqual([
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
    expect(lastWord(model)).toBe('failed: error: no such job')
  })
  test('what a check found is shown also where it ends with a failure', () => {
    const given = { out: 'engines  fail  away\n         fix: mend it\n', err: '\n1 failed, 0 warnings\n', exitCode: 9 }
    const { model } = update(modelOf(), { type: 'ran', argv: ['doctor'], as: 'shown', ...given })
    const lines = ['engines  fail  away', '         fix: mend it', '1 failed, 0 warnings', 'exit 9']
    expect(model.mode).toMatchObject({ type: 'output', lines })
    expect(lastWord(model)).toBe('failed: 1 failed, 0 warnings')
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
    const request = press(shown, 'esc').model
    expect(request.mode).toMatchObject({ type: 'secret', asking: true })
    expect(press(request, 'esc').model.mode.type).toBe('browse')
    expect(press(shown, 'y').effects).toEqual([{ type: 'copy', text: 'svc_sk_live_abc' }])
    expect(press(shown, 'enter').model.mode.type).toBe('browse')
  })
})

describe('a chat', () => {
  const mine = () => press(modelOf({ screen: 'takeovers' }), 'down', 'down').model
  test('opens for who takes the chat, and not for who went on to another one', () => {
    const sent = press(modelOf({ screen: 'takeovers' }), 'T')
    const [run] = sent.effects.filter((effect) => effect.type === 'run')
    const taken = { ...run!, type: 'ran', exitCode: 0, out: 'taken', err: '' } as const
    expect(update(sent.model, taken).model.mode).toMatchObject({ type: 'write' })
    expect(update(press(sent.model, 'down').model, taken).model.mode.type).toBe('browse')
  })
  test('is written to only by who has it; what is not sent is kept', () => {
    expect(lastWord(press(modelOf({ screen: 'takeovers' }), 'i').model)).toContain('press T')
    const begun = press(mine(), 'i', ...typed('Usually three days.'), 'esc').model
    expect(begun.drafts.s3).toBe('Usually three days.')
    const [run] = press(begun, 'i', 'enter').effects as unknown as { argv: string[] }[]
    expect(run!.argv.slice(-3)).toEqual(['--', 's3', 'Usually three days.'])
    expect(run!.argv).toContain('--idempotency-key')
    expect((press(begun, 'i', 'enter').effects[0] as unknown as { argv: string[] }).argv).toEqual(run!.argv)
  })
  test('the name of a saved reply brings its text, which Enter then sends', () => {
    const brought = press({ ...mine(), replies: new Map([['hold', 'One moment.']]) }, 'i', ...typed('/hold'), 'enter')
    expect(brought.effects).toEqual([])
    expect(brought.model.drafts.s3).toBe('One moment.')
    expect(press(brought.model, 'enter').effects).toMatchObject([{ type: 'run', as: 'reply' }])
  })
  test('a message that was not sent stays, and is marked as unsent', () => {
    const sending = press(mine(), 'i', ...typed('Hello'), 'enter').model
    const ran = { type: 'ran', argv: [], exitCode: 5, out: '', err: 'error: Priya has it', as: 'reply' } as const
    const { model } = update(sending, ran)
    expect(model.mode).toMatchObject({ type: 'write', sending: false, failed: 'error: Priya has it' })
    expect(model.drafts.s3).toBe('Hello')
    // What was typed while it was sent stays, also for who has left the field meanwhile.
    const sent = { ...ran, argv: ['takeovers', 'reply', 's3', 'Hello'], exitCode: 0, err: '' }
    expect(update(sending, sent).model.drafts.s3).toBe('')
    expect(update(press(sending, ...typed(' you'), 'esc').model, sent).model.drafts.s3).toBe(' you')
  })
})

describe('what a screen does with the row under its mark', () => {
  const runs = (effects: readonly Effect[]) => effects.filter((effect) => effect.type === 'run')

  test('browser: v opens the live view, with the wheel only where changes are allowed; s saves a picture, E asks first', () => {
    const model = modelOf({ screen: 'browser' })
    const id = chosenRow(model)!.id
    expect(runs(press(model, 'v').effects)).toEqual([
      { type: 'run', argv: ['browser', 'open', id, '--control'], as: 'shown', write: false },
    ])
    const looking = modelOf({ screen: 'browser', canWrite: false })
    expect(runs(press(looking, 'v').effects)).toMatchObject([{ argv: ['browser', 'open', id] }])
    expect(runs(press(looking, 's').effects)).toEqual([])
    expect(runs(press(model, 's').effects)).toMatchObject([
      { argv: ['browser', 'screenshot', id, '--out', expect.any(String)] },
    ])
    const request = press(model, 'E').model
    expect(dialogOf(request)).toMatchObject({ title: `End session ${id}?`, focus: 'cancel' })
    expect(runs(press(request, 'tab', 'enter').effects)).toMatchObject([
      { argv: ['browser', 'end', id, '--yes'], write: true },
    ])
  })

  test('keys: e begins the command, and i decides what is asked for', () => {
    const model = modelOf({ screen: 'keys' })
    expect(press(model, 'e').model.mode).toMatchObject({ type: 'palette', draft: 'keys update Production --' })
    expect(dialogOf(press(model, 'i').model)).toMatchObject({
      title: 'Raise key Production to enterprise?',
      argv: [['limits', 'approve', 'rli_1']],
    })
    expect(lastWord(press(model, 'down', 'i').model)).toBe('There is no request for a higher tier of this key.')
  })

  test('audit: x writes the chain of the row to a file', () => {
    const { effects } = press(press(modelOf({ screen: 'audit' }), 'x').model, 'enter', 'enter')
    expect(runs(effects)).toMatchObject([{ argv: ['audit', 'export', 'org:acme', '--out', 'audit.csv'] }])
  })

  test('takeovers: a note, a hand-over, and a draft that is put into the field and not sent', () => {
    const model = modelOf({ screen: 'takeovers' })
    const noted = press(model, 'n', ...typed('call back'), 'enter', 'enter')
    const id = chosenRow(model)!.id
    expect(runs(noted.effects)).toMatchObject([
      { argv: ['takeovers', 'note', '--widget', 'w1', '--', id, 'call back'] },
    ])
    expect(runs(press(model, 'h', ...typed('pri@a.example'), 'enter', 'enter').effects)).toMatchObject([
      { argv: ['takeovers', 'handover', id, '--widget', 'w1', '--to=pri@a.example'] },
    ])
    const drafted = press(model, 'd')
    const [run] = runs(drafted.effects)
    expect(run!.argv.slice(0, 3)).toEqual(['takeovers', 'reply', id])
    const ran = { type: 'ran', argv: run!.argv, exitCode: 0, out: 'One is a hold.\n', err: '', as: 'draft' } as const
    const after = update(drafted.model, ran)
    expect(after.model.drafts[id]).toBe('One is a hold.')
    expect(after.model.mode.type).toBe('write')
    expect(runs(after.effects)).toEqual([])
  })

  test('a server of another line is read, and not changed', () => {
    const hello = { type: 'hello', operator: 'sam', role: 'admin', version: '0.2.3', holder: 'operator:sam' } as const
    const { model } = update(modelOf(), { type: 'streamed', events: [hello] })
    expect(model.canWrite).toBe(false)
    expect(lastWord(model)).toContain(
      'The server has version 0.2.3, this program 0.1.0. You can read but not change anything.',
    )
    expect(update(modelOf(), { type: 'streamed', events: [{ ...hello, version: '0.1.9' }] }).model.canWrite).toBe(true)
  })
})

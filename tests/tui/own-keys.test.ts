import { describe, expect, test } from 'bun:test'
import { picture } from '../../tui/data/store'
import { textOf } from '../../tui/draw/line'
import { keymapWith } from '../../tui/keymap'
import type { Model } from '../../tui/state/model'
import { chosenRow } from '../../tui/state/rows'
import { update } from '../../tui/state/update'
import { modelOf, NOW, press } from './support/model'

const dialogOf = ({ mode }: Model) => (mode.type === 'dialog' ? mode.dialog : null)

describe('keys of one user', () => {
  const seen = (model: Model) => picture(model).map(textOf).join('\n')
  test('do what they say, in the hints and the help too, and the old ones do nothing', () => {
    const model = modelOf({ screen: 'jobs', keymap: keymapWith({ 'jobs.cancel': 'X', filter: ['ctrl-f', 'F'] }) })
    expect(dialogOf(press(model, 'down', 'X').model)?.title).toContain('Cancel')
    expect(press(model, 'c').model.mode.type).toBe('browse')
    expect(press(model, 'F').model.mode.type).toBe('filter')
    expect(seen(model)).toContain('X cancel')
    expect(seen(press(model, '?').model)).toContain('ctrl-f F')
  })
  test('keep their order where each means another thing', () => {
    const arrows = ['up', 'K', 'down', 'J', 'pageup', 'pagedown', 'g', 'G', 'home', 'end']
    const model = modelOf({ screen: 'jobs', keymap: keymapWith({ move: arrows }) })
    expect(chosenRow(press(model, 'J', 'J', 'K').model)?.id).toBe('job_7Qm1Ab')
  })
  test.each([
    [{ 'jobs.stop': 'x' }, 'no action "jobs.stop". Actions: '],
    [{ quit: 'ctrl-c' }, 'is not a key'],
    [{ quit: 'ab' }, 'is not a key'],
    [{ quit: [] }, 'needs 2 keys'],
    [{ move: 'w' }, 'needs 10 keys'],
    [{ 'jobs.cancel': 'R' }, '"R" would do two things: jobs.cancel and jobs.retry'],
    [{ follow: 'c' }, '"c" would do two things: follow and'],
  ])('%j is refused with a sentence', (changed, sentence) => {
    expect(() => keymapWith(changed)).toThrow(sentence)
  })
})

describe('what is read on the record, and what is begun', () => {
  test('b shows the body of a delivery, and begins to bind a key', () => {
    expect(press(modelOf({ screen: 'deliveries' }), 'b').effects).toMatchObject([
      {
        type: 'run',
        argv: ['deliveries', 'get', expect.any(String), '--webhook', expect.any(String), '--body', '-o', 'yaml'],
      },
    ])
    expect(press(modelOf({ screen: 'keys' }), 'b').model.mode).toMatchObject({
      draft: expect.stringMatching(/^keys bind .+ --$/),
    })
  })
  test('d asks the doctor while the server is away', () => {
    const away = update(modelOf(), { type: 'lost', problem: 'refused', tries: 1, nextTryAt: NOW }).model
    expect(press(away, 'd').effects).toMatchObject([{ argv: ['doctor'] }])
  })
})

import { TITLES } from '../screens'
import type { Dialog, Model } from '../state/model'
import { found } from '../state/palette'
import { VIEWER } from '../state/step'
import { chosen, fit, fitLine, type Line, line, textSpan, wrapped } from './line'
import { asTyped, clockOf } from './spell'

const READ_ONLY = 'read-only: keys that change anything are disabled'

const BOX = 68

/** A box with a title, drawn over the body. `at` is its first row. */
export function boxed(
  body: readonly Line[],
  title: string,
  lines: readonly Line[],
  width: number,
  at: number,
  max = BOX,
): Line[] {
  const own = Math.min(max, width - 2)
  const left = Math.max(1, Math.floor((width - own) / 2) - 1)
  const pad = ' '.repeat(Math.max(0, left))
  const top = line(
    pad,
    fit(`┌─ ${fit(title, Math.min(Bun.stringWidth(title), own - 8))} ${'─'.repeat(own)}`, own - 1).replace('…', '─'),
    '┐',
  )
  const inside = lines.map((row) => line(pad, '│ ', ...fitLine(row, own - 4), ' │'))
  const all = [top, ...inside, line(pad, `└${'─'.repeat(own - 2)}┘`)]
  return body.map((row, place) => all[place - at] ?? (place >= at && place < at + all.length ? [] : row))
}

/** Empty rows, for boxes without a body behind them. */
export const emptyBody = (height: number): Line[] => Array.from({ length: Math.max(0, height) }, () => [])

export function paletteBox(model: Model, body: readonly Line[], width: number): Line[] {
  if (model.mode.type !== 'palette') return [...body]
  const { draft, at } = model.mode
  const commands = found(model.commands, draft).slice(0, 6)
  const picked = commands[Math.min(at, commands.length - 1)]
  const rows = commands.map((command) => {
    const left = `${fit(`${command === picked ? '▸' : ' '} ${command.path} ${command.args}`, 34)} `
    const row = line(left, fit(command.writes && !model.canWrite ? `(off) ${command.summary}` : command.summary, 29))
    return command === picked ? row.map((span) => ({ ...span, inverse: true })) : row
  })
  const whole = draft.includes(' --') || (picked && draft.startsWith(`${picked.path} `))
  const same = whole ? draft : picked ? `${picked.path} ${picked.args}`.trim() : draft
  return boxed(
    body,
    'command',
    [
      line(`: ${draft}▌`),
      [],
      ...(rows.length ? rows : [line(textSpan('no command has this name', 'dim'))]),
      [],
      line(asTyped(`same as:  svc-admin ${same}`)),
    ],
    width,
    1,
  )
}

export function pickBox(model: Model, body: readonly Line[], width: number): Line[] {
  if (model.mode.type !== 'pick') return [...body]
  const { picker, at } = model.mode
  const room = Math.max(1, Math.min(12, body.length - 4))
  const top = Math.max(0, Math.min(at - Math.floor(room / 2), picker.names.length - room))
  const rows = picker.names.slice(top, top + room).map((name, place) => {
    const isPicked = top + place === at
    return isPicked ? chosen(line(`▸ ${name}`)) : line(`  ${name}`)
  })
  return boxed(body, picker.title, rows, width, 1)
}

export function dialogBox({ canWrite }: Model, dialog: Dialog, body: readonly Line[], width: number): Line[] {
  const { title, about, verb, field, focus } = dialog
  const button = (name: string, isFocused: boolean) =>
    isFocused ? { text: ` ▸ ${name} `, inverse: true } : textSpan(`   ${name} `)
  return boxed(
    body,
    title,
    [
      [],
      ...about.flatMap((text) => wrapped(asTyped(text), BOX - 6, 4).map((row) => line(row))),
      [],
      ...(field
        ? [
            line(
              `${field.label}: `,
              textSpan(`${field.text}${focus === 'field' ? '▌' : ''}`, 'strong'),
              field.required && !field.text ? textSpan('  (needed)', 'dim') : '',
            ),
            [],
          ]
        : []),
      ...(canWrite ? [] : [line(textSpan('read-only: type :write to allow changes', 'warn')), []]),
      line(button('Cancel', focus === 'cancel'), '    ', button(verb, focus === 'go')),
      [],
      ...commandLines(dialog)
        .slice(0, 2)
        .map((text) => line(textSpan(`same as:  ${text}`, 'dim'))),
    ],
    width,
    2,
  )
}

/** The shell commands that a dialog will run. */
export function commandLines({ argv, field }: Dialog): string[] {
  return argv.map((words) => {
    const flag = field?.flag ? [`${field.flag}="${field.text || '…'}"`] : []
    const rest = [...words.map((word) => quoted(word.replace('$', field?.text || '…'))), ...flag].join(' ')
    return asTyped(`svc-admin ${rest}`)
  })
}

const quoted = (word: string): string => (/^[\w@%+=:,./…-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

export function secretBox(model: Model, body: readonly Line[], width: number): Line[] {
  if (model.mode.type !== 'secret') return [...body]
  const { title, secret, about, asking: request } = model.mode
  return boxed(
    emptyBody(body.length),
    title,
    [
      [],
      ...wrapped(secret, BOX - 6, 3).map((row) => line(' ', textSpan(row, 'strong'))),
      [],
      line(' This is the only time the full key is shown.'),
      line(' The server stores only its hash and cannot show it again.'),
      [],
      ...about.map((text) => line(` ${text}`)),
      [],
      line(' y  copy to clipboard (asks the terminal, OSC 52)'),
      line(' w  write to a file, mode 0600'),
      line(' ⏎  I have saved it'),
      ...(request ? [[], line(textSpan(' You have not saved it. Press Esc again to close anyway.', 'warn'))] : [[]]),
    ],
    width,
    2,
  )
}

export function helpLines(model: Model): Line[] {
  const { global, screens } = model.keymap
  const own = screens[model.screen] ?? []
  const taken = new Set(own.flatMap(({ keys }) => keys))
  const rows = [...own, ...global.filter(({ keys }) => !keys.every((key) => taken.has(key)))].map(({ keys, about }) => {
    return [keys.length > 6 ? `${keys[0]} … ${keys.at(-1)}` : keys.join(' '), about] as const
  })
  const half = Math.ceil(rows.length / 2)
  const column = Math.floor((model.columns - 3) / 2)
  const cell = (row: readonly [string, string] | undefined) =>
    row ? `${fit(row[0], 13)} ${fit(row[1], column - 14)}` : ''
  return [
    line(
      textSpan(` ${TITLES[model.screen][0]}`, 'strong'),
      model.canWrite ? '' : textSpan(`   ${model.role === 'viewer' ? VIEWER : READ_ONLY}`, 'warn'),
    ),
    ...Array.from({ length: half }, (_, at) => line(` ${cell(rows[at])} ${cell(rows[at + half])}`)),
    line(textSpan(' filter: word  field:value  a,b  >=400  *glob*  !not  age:>5m  "two words"', 'dim')),
  ]
}

export const messageLines = (model: Model, height: number): Line[] =>
  model.messages.length
    ? model.messages
        .slice(-height)
        .toReversed()
        .map(({ at, text }) => line(` ${clockOf(at)} ${text}`))
    : [line(' No messages yet.')]

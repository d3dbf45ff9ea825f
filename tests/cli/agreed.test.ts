import { expect, test } from 'bun:test'
import { EXIT, EXIT_MEANINGS } from '../../cli/failure'
import { withoutAliases } from '../../cli/program'
import { cli } from '../support/io'
import { AGREED } from './agreed'

const REASONED = /^--(reason|dry-run)$/
const PLANES = { T: 'tenant', O: 'operator', H: 'host' } as const
const ASKS = { '-': 'none', y: 'moderate', name: 'severe', once: 'secret once' } as const
type Listed = {
  command: string
  planes: string[]
  offline: boolean
  danger: string
  flags: { name: string }[]
  exit_codes: number[]
  examples: string[]
}

const listed: Listed[] = JSON.parse((await cli('commands -o json')).stdout)

/** The command that the agreed words run: help lists some under shorter ones. */
const meant = (words: string): Listed | undefined => {
  const path = withoutAliases(words.split(' ')).join(' ')
  return listed.find(({ command }) => command === path)
}

test.each(AGREED.map((agreed) => [agreed.command, agreed] as const))(
  '%s has the places, flags, questions and exit codes that were agreed',
  (words, { places, flags, asks, exits }) => {
    const found = meant(words)
    const own = found?.flags.map(({ name }) => name) ?? []
    const planes = places.flatMap((place) => (place === 'L' ? [] : [PLANES[place as keyof typeof PLANES]]))
    const codes = [
      0,
      1,
      2,
      ...exits,
      ...(planes.some((plane) => plane !== 'host') ? [EXIT.refused, EXIT.unreachable] : []),
    ]
    expect({
      planes: planes.filter((plane) => !found?.planes.includes(plane)),
      offline: !places.includes('L') || found?.offline,
      flags: flags.filter((flag) => !own.includes(flag)),
      danger: asks === '?' ? '' : found?.danger,
      exits: codes.filter((code) => !found?.exit_codes.includes(code)),
    }).toEqual({
      planes: [],
      offline: true,
      flags: [],
      danger: asks === '?' ? '' : ASKS[asks as keyof typeof ASKS],
      exits: [],
    })
  },
)

test.each(AGREED.filter(({ reason }) => reason).map(({ command }) => [command]))(
  '%s goes on the record and wants a reason, but not for a dry run',
  async (command) => {
    const line = exampleOf(command).filter((word, at, all) => !REASONED.test(word) && all[at - 1] !== '--reason')
    const done = await cli([...line, '--yes', '--org', 'acme'])
    expect(done).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining('add --reason') })
    expect((await cli([...line, '--org', 'acme', '--dry-run'])).stderr).not.toContain('add --reason')
  },
)

test('every exit code has its sentence, and a command that may end so', () => {
  const used = new Set(listed.flatMap(({ exit_codes }) => exit_codes))
  const ofSignals: number[] = [EXIT.interrupted, EXIT.terminated]
  for (const code of Object.values(EXIT)) {
    expect(EXIT_MEANINGS).toHaveProperty(String(code))
    expect(used.has(code) || ofSignals.includes(code)).toBe(true)
  }
})

const exampleOf = (words: string): string[] => (meant(words)!.examples[0]!.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).slice(1)

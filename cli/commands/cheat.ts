import { didYouMean } from '../../src/kernel/nearest'
import { defineCommand } from '../command'
import { usageFailure } from '../failure'
import { optional } from '../words'

export const cheat = defineCommand({
  path: 'cheat',
  summary: 'Print examples of commands, ready to paste',
  about:
    'Prints two or more examples for each command of a noun, with what they do. Without a noun it prints one for each command.',
  examples: ['cheat keys', 'cheat | less'],
  apis: ['host'],
  impact: 'read',
  args: { noun: optional('a noun, such as keys') },
  async run({ io, commands }, { noun }) {
    const words = [...new Set(commands.map(({ path }) => path.split(' ')[0]!))]
    const own = commands.filter(({ path }) => {
      const [first] = path.split(' ')
      return noun === undefined || first === noun || first === `${noun}s`
    })
    if (!own.length) throw usageFailure(`There is no noun "${noun}".${didYouMean(noun!, words)}`, 'svc-admin help')
    for (const { summary, examples } of own) {
      io.out(`# ${summary}`)
      for (const example of noun === undefined ? examples.slice(0, 1) : examples) io.out(`svc-admin ${example}`)
      io.out('')
    }
  },
})

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
  args: { resource: optional('a noun, such as keys') },
  async run({ io, commands }, { resource }) {
    const words = [...new Set(commands.map(({ path }) => path.split(' ')[0]!))]
    const own = commands.filter(({ path }) => {
      const [first] = path.split(' ')
      return resource === undefined || first === resource || first === `${resource}s`
    })
    if (!own.length)
      throw usageFailure(`There is no noun "${resource}".${didYouMean(resource!, words)}`, 'svc-admin help')
    for (const { summary, examples } of own) {
      io.out(`# ${summary}`)
      for (const example of resource === undefined ? examples.slice(0, 1) : examples) io.out(`svc-admin ${example}`)
      io.out('')
    }
  },
})

// SQLite only: a format only translates; tests/completions runs what is behind it on both.
import { describe } from 'bun:test'
import { createUpstreamWorld } from '../completions/upstream-world'
import { compatSuite } from '../suites/compat'
import { chat, messages, responses } from './formats'

for (const [name, format] of Object.entries({ 'chat completions': chat, responses, messages })) {
  const { world, upstream } = await createUpstreamWorld()
  const ada = await world.person()
  describe(name, () => compatSuite(format, { world, upstream, ada }))
}

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { temporaryFolder } from '../support/temporary-folder'

const outdir = temporaryFolder('svc-bundled-')

/** Built as the server is: packages may export something else there than they do to the sources. */
test('personal data is found in a bundle as in the sources', async () => {
  const entry = join(import.meta.dir, '../../src/guardrails/detectors.ts')
  await Bun.build({ entrypoints: [entry], outdir, target: 'bun', format: 'cjs' })
  const { pii } = (await import(join(outdir, 'detectors.js'))) as typeof import('../../src/guardrails/detectors')
  const text =
    'DE89 3704 0044 0532 0130 00, 4111 1111 1111 1111, 12345678Z, Steuer-ID 86095742719, +49 30 1234567, 192.0.2.44'
  const found = await pii.prepare({})(text, { phase: 'input' })
  expect(found?.matches.map(({ kind }) => kind)).toEqual(['iban', 'credit_card', 'ssn', 'ssn', 'phone', 'ip_address'])
})

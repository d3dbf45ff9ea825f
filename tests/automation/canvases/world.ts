import type { CanvasGraph } from '../../../src/automation/canvases-schema'
import type { Person } from '../../support/world'
import { simple } from './drawing'

export const AUTHOR = { name: 'Ada' }

/** The id of a new canvas of this person's. */
export async function canvasOf(
  person: Pick<Person, 'send'>,
  graph_json: CanvasGraph = simple(),
  name = 'Mine',
): Promise<string> {
  return (await person.send('POST', 'evi/canvases', { name, graph_json })).body.canvas.id
}

/** What this person's record says was done, newest first, without the making of keys. */
export async function actionsOf(person: Person): Promise<string[]> {
  const { body } = await person.send('GET', 'audit')
  return body.map(({ action }: { action: string }) => action).filter((action: string) => action !== 'key.created')
}

let made = 0
/** An order to publish under a slug that nobody has. */
export const order = (more: object = {}) => ({ slug: `canvas-${++made}`, version: '1.0.0', author: AUTHOR, ...more })

export const publish = (by: Pick<Person, 'send'>, id: string, body: object, headers = {}) =>
  by.send('POST', `evi/canvases/${id}/publish`, body, headers)

import type { CanvasGraph } from '../../src/canvases/schema'
import type { Person } from '../support/world'
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

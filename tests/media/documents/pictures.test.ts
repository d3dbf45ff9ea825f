import { expect, test } from 'bun:test'
import { readPicture } from '../../../src/media/documents/render/pictures'
import { PIXEL } from '../../files/support'

test('a photograph leaves where it was taken behind (O17)', async () => {
  const photo = Buffer.from(await new Bun.Image(PIXEL).resize(8, 8).jpeg().bytes())
  const place = Buffer.from('Exif\0\0MM\0*\0\0\0\x08GPSLatitude 52.5200N', 'latin1')
  const marker = Buffer.from([0xff, 0xe1, 0, place.length + 2])
  const notice = Buffer.concat([photo.subarray(0, 2), marker, place, photo.subarray(2)])
  expect(notice.includes('GPSLatitude')).toBe(true)
  const shown = await readPicture(notice)
  expect(shown).toMatchObject({ format: 'jpeg', width: 8, height: 8 })
  for (const word of ['Exif', 'GPSLatitude']) expect(Buffer.from(shown!.bytes).includes(word)).toBe(false)
})

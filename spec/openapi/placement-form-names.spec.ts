import { dto, file, list } from '../../lib';
import { operationOf } from '../support/described';

it('a list of lists of files is one name of a form: each file is a list of its own', async () => {
  const { requestBody } = await operationOf(dto({ files: list(list(file)) }), { options: { allowFormData: true } });
  expect(requestBody?.content['multipart/form-data']?.schema).toMatchObject({
    properties: { files: { type: 'array', items: { type: 'string', format: 'binary' } } },
  });
});

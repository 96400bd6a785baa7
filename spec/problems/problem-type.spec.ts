import { configure, dto, int, problemDetails } from '../../lib';
import { ask, problemIn } from '../support/ask';
import { expressVersions } from '../support/express-versions';

class Item extends dto({ n: int }) {}
const base = 'https://docs.example.com/problems#';

describe.each(expressVersions)('with a problemTypeBase, on %s,', (_version, express) => {
  const typesOf = async (configuration: Parameters<typeof configure>[0]): Promise<unknown[]> => {
    const { idempotency, bindRequest, queryValue } = configure(configuration);
    const app = express()
      .post('/guarded', idempotency(), (_req, res) => {
        res.end();
      })
      .post('/bound', bindRequest(Item), (_req, res) => {
        res.end();
      })
      .post('/value', (req, res) => {
        res.json(queryValue(req, 'n', int));
      })
      .use(problemDetails());
    const answers = await Promise.all(['/guarded', '/bound', '/value'].map(path => ask(app, { path })));
    return answers.map(answer => problemIn(answer)?.type);
  };

  it('the type of each refusal leads to its documentation', async () => {
    expect(await typesOf({ problemTypeBase: base })).toEqual([
      `${base}key-missing`,
      `${base}validation-failed`,
      `${base}validation-failed`,
    ]);
  });

  it('so does that of a problem that onProblem passes on', async () => {
    expect(
      await typesOf({
        problemTypeBase: base,
        onProblem: (problem, _req, _res, next) => {
          next(problem);
        },
      }),
    ).toEqual([`${base}key-missing`, `${base}validation-failed`, `${base}validation-failed`]);
  });
});

it.each(['', 'problems#', '/problems/', 1, null])('a problemTypeBase of %p is refused', problemTypeBase => {
  expect(() => configure({ problemTypeBase: problemTypeBase as string })).toThrow(
    /^configure: problemTypeBase must be an absolute URI, not /,
  );
});

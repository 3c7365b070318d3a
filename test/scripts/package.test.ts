// Where the published package says that it is from: the page of the repository that the checkout is pushed to.
import t from 'tap';
import { repositoryPage } from '../../scripts/package.ts';

t.test('the page of a repository by the address that git has', async (t) => {
  const page = 'https://code.example.com/line/offhook';
  for (const address of [
    'https://code.example.com/line/offhook.git',
    'https://code.example.com/line/offhook',
    'https://somebody:token@code.example.com/line/offhook.git',
    'ssh://git@code.example.com/line/offhook.git',
    'git@code.example.com:line/offhook.git',
  ])
    t.equal(repositoryPage(address), page, address);
  for (const address of ['', '/srv/offhook.git', '../offhook', 'file:///srv/offhook.git'])
    t.equal(repositoryPage(address), null, `"${address}" has no page`);
});
